// Constant folding.
#pragma once
#include "passes/context.h"

namespace tern {

// Evaluates nodes whose inputs are all constant, within the limits of `context`. A node is not folded when
// its result is larger than 1 MiB and larger than twice its inputs, unless the result is read only as
// weights. Dequantize is not folded, because that would make weights four times as large. Returns the number
// of nodes removed.
Result<int> FoldConstants(Graph& graph, PassContext& context);

// Replaces integer tensors of shape computations by constants, where inference knows every element.
Result<int> FoldShapes(Graph& graph, PassContext& context);

}  // namespace tern
