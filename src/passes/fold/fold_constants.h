// Constant folding.
#pragma once
#include "passes/context.h"

namespace tern {

// Evaluates nodes with constant inputs only, within the context's limits. A node is not folded when its
// result is over 1 MiB and over twice the size of its inputs, unless the result is read only as weights.
// Dequantize is not folded, because that would make weights four times as large. Returns the number of nodes
// removed.
Result<int> FoldConstants(Graph& graph, PassContext& context);

// Replaces integer tensors of shape computations by constants, where inference knows every element.
Result<int> FoldShapes(Graph& graph, PassContext& context);

}  // namespace tern
