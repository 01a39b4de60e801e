// Stores weights beside a model in the form that this machine's kernels want.
#pragma once
#include "ir/graph.h"

namespace tern::tools {

// The graph must be optimized for running: level layout. Kernels are chosen for its inputs' dims; open ones
// become 1, which a note on stderr says.
Status PackWeights(Graph& graph);

}  // namespace tern::tools
