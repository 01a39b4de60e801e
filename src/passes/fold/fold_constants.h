// Computes ahead of time what depends on constants only.
#pragma once
#include "passes/context.h"

namespace tern {

// Nodes whose inputs are all constants, as far as the context's limits allow: a result that is large and
// larger than what it was made from stays computed. Quantization stays as it is: folded, the weights would
// grow fourfold. Returns how many nodes went.
Result<int> FoldConstants(Graph& graph, PassContext& context);

// Integer tensors that hold shapes, where inference knows every element.
Result<int> FoldShapes(Graph& graph, PassContext& context);

}  // namespace tern
