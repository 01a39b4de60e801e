// The functions of Unary, shared with ops that have an `activation` attribute.
#pragma once
#include <vector>

#include "core/elementwise_kind.h"

namespace tern {

const std::vector<const char*>& UnaryNames();  // in the order of UnaryKind
// Computes the function of a float. kNot and kBitwiseNot are not allowed, because they are functions of bools
// and integers.
double UnaryValue(UnaryKind kind, double x);

}  // namespace tern
