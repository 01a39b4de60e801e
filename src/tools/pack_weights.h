// Stores weights packed for this machine's kernels in a model.
#pragma once
#include "ir/graph.h"
#include "runtime/model/precision.h"

namespace tern::tools {

// The graph must be optimized at level layout. Weights are packed for the kernels that sessions of that
// precision choose for the declared dims. Packing runs with open dims set to 1, with a note on stderr.
Status PackWeights(Graph& graph, Precision precision);

}  // namespace tern::tools
