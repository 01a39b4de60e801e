// Adds packed weights for this machine's kernels to a model.
#pragma once
#include "ir/graph.h"
#include "runtime/model/precision.h"

namespace tern::tools {

// The graph must be optimized at level layout. Packs the weights for the kernels that sessions with this
// precision choose for the declared dims. While the weights are packed, open dims have the size SmallestSize.
// A note on stderr names these dims.
Status PackWeights(Graph& graph, Precision precision);

}  // namespace tern::tools
