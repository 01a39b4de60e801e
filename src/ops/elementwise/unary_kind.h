// The functions of Unary, for it and for ops that apply them to their own results.
#pragma once
#include <vector>

#include "core/elementwise_kind.h"

namespace tern {

const std::vector<const char*>& UnaryNames();  // in the order of UnaryKind
// Of a float; `not` and `bitwise_not` have no value.
double UnaryValue(UnaryKind kind, double x);

}  // namespace tern
