// Reads nodes of arithmetic as a polynomial. Exporters write 0.5 * x * (1 + x * x) in any order of
// operations, but the polynomial is always the same.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

using Polynomial = std::map<int, double>;  // coefficients other than 0, by the power of the variable

// Returns v as a polynomial in x, if v is computed by sums, products, integer powers and divisions by
// numbers. Views that only add or remove leading dims of 1 are ignored. nullopt when another op is between x
// and v, or the degree exceeds 4.
std::optional<Polynomial> PolynomialOf(const Value* v, const Value* x);

// True if the numbers are equal up to the rounding of constants of this type.
bool Near(double found, double expected, DType dtype);
// True if the powers are the same and the coefficients are Near.
bool Near(const Polynomial& found, const Polynomial& expected, DType dtype);

// v = factor * value, with a constant factor that is collected from Mul, Div and Neg nodes without other
// readers. value is v when there are no such nodes.
struct Scaled {
  double factor = 1;
  Value* value = nullptr;
};
Scaled PeelFactor(Value* v);

}  // namespace tern
