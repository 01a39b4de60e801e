// Stores weights beside a model in the form that this machine's kernels want.
#pragma once
#include "ir/graph.h"
#include "runtime/model/precision.h"

namespace tern::tools {

// The graph must be optimized for running: level layout. Kernels are those that sessions of that precision
// choose for the dims it declares; packing itself runs with open ones at 1, which a note on stderr says.
Status PackWeights(Graph& graph, Precision precision);

}  // namespace tern::tools
