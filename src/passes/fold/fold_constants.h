// Constant folding.
#pragma once
#include "passes/context.h"

namespace tern {

// Evaluates nodes whose inputs are all constant, within the limits of `context`. A result of more than 1 MiB
// that is larger than twice the inputs is folded only if all its readers use it as weights. A node whose
// result has an unknown size is evaluated only if its inputs have at most 1 MiB. Dequantize is not folded,
// because that would make weights four times as large. Returns the number of nodes folded.
Result<int> FoldConstants(Graph& graph, PassContext& context);

// Replaces integer scalars and vectors of shape computations by constants, where inference knows every
// element. Returns the number of values replaced.
Result<int> FoldShapes(Graph& graph, PassContext& context);

}  // namespace tern
