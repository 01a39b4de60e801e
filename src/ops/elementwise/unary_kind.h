// The functions of Unary, shared with ops that have an `activation` attribute.
#pragma once
#include <vector>

#include "core/elementwise_kind.h"

namespace tern {

const std::vector<const char*>& UnaryNames();  // in the order of UnaryKind
// The function of a float. `not` and `bitwise_not` have none.
double UnaryValue(UnaryKind kind, double x);

}  // namespace tern
