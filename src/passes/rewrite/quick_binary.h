// Computes arithmetic on large constants fast, because rules scale weights often.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// The result of add, sub, mul or div over f32 constants, bit-identical to the reference evaluator: rounding
// the double result of one operation on floats gives the float result. nullopt for other nodes and for
// results below 4096 elements.
std::optional<Tensor> QuickBinary(const Node& node);

}  // namespace tern
