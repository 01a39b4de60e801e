// Constant folding.
#pragma once
#include "passes/context.h"

namespace tern {

// Evaluates nodes whose inputs are all constant, within the limits of `context`. A result of more than 1 MiB
// that is larger than twice the inputs is folded only if all its readers use it as weights. Dequantize is
// not folded, because that would make weights four times as large. Returns the number of nodes removed.
Result<int> FoldConstants(Graph& graph, PassContext& context);

// Replaces integer tensors of shape computations by constants, where inference knows every element.
Result<int> FoldShapes(Graph& graph, PassContext& context);

}  // namespace tern
