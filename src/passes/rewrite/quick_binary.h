// Arithmetic on large constants, which rules do by the dozen: scaling weights above all.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern {

// The result of a Binary over f32 constants, bit for bit what the reference evaluator gives: that one rounds
// a double sum, product or quotient of floats, which is the float one. Nothing for what is small or else.
std::optional<Tensor> QuickBinary(const Node& node);

}  // namespace tern
