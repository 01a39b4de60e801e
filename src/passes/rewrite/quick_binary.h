// Fast arithmetic on large constants. Rules often scale weights, and the reference evaluator is slow.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// Returns the result of add, sub, mul or div of f32 constants, computed in f32. Returns nullopt for other
// nodes and for results below 4096 or above 2^30 elements. The reference evaluator computes in f64 and rounds
// to f32. Both results are bit-identical, because f64 has more than twice the digits of f32.
std::optional<Tensor> QuickBinary(const Node& node);

}  // namespace tern
