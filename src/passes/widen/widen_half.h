// Widens f16 and bf16 nodes to f32. Kernels compute in f32 and use f16 and bf16 only for storage.
#pragma once
#include "passes/context.h"

namespace tern {

// Makes nodes that compute in f16 or bf16 compute in f32. Values are rounded to half precision only at the
// outputs of graphs, at the model's Casts, and at inputs of nodes that must stay in half precision (StaysHalf
// in half_node.h). A node that computes in f32 now skips a Cast from f32 before it, so that this Cast does
// not round. The level `layout` permits this (docs/decisions/029-half-precision-is-storage.md). Inputs and
// outputs keep their types, also in nested graphs. Data that is only moved keeps its half-precision type
// until a node computes with it. Returns the number of nodes that changed.
Result<int> WidenHalf(Graph& graph, PassContext& context);

}  // namespace tern
