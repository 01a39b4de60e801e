// f16 and bf16 are storage types here: kernels compute in f32.
#pragma once
#include "passes/context.h"

namespace tern {

// Makes nodes that compute in f16 or bf16 compute in f32. Values are rounded at outputs and at Casts of the
// model only. Inputs and outputs keep their types, also in nested graphs. Data that is only moved keeps its
// half-precision type until a node computes with it. Returns the number of nodes that changed.
Result<int> WidenHalf(Graph& graph, PassContext& context);

}  // namespace tern
