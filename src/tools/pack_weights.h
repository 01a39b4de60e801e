// Adds packed weights for this machine's kernels to a model.
#pragma once
#include "ir/graph.h"
#include "runtime/model/precision.h"

namespace tern::tools {

// The graph must be optimized at level layout. The weights are packed for the kernels that sessions with this
// precision choose for the declared dims. A note on stderr names the open dims, which are set to SmallestSize
// while packing.
Status PackWeights(Graph& graph, Precision precision);

}  // namespace tern::tools
