// Computes arithmetic on large constants fast, because rules scale weights often.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// The result of add, sub, mul or div of f32 constants, computed in f32. It is bit-identical to the result of
// the reference evaluator, which computes in f64 and rounds to f32. The two results are identical, because
// f64 has enough digits for one operation on f32 operands to round to the same f32 number. nullopt for other
// nodes and for results below 4096 elements.
std::optional<Tensor> QuickBinary(const Node& node);

}  // namespace tern
