// The sizes of an exported program are expressions of sympy, as text.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "core/dim.h"

namespace tern::torch {

// Parses "Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(1))" or "2*s0 + 1". Returns an unknown Dim
// if Dim cannot represent the expression.
Dim ParseExpression(std::string_view text);

// Returns whether all symbols of the dim are in the set.
bool OnlyUses(const Dim& dim, const std::set<std::string>& symbols);

}  // namespace tern::torch
