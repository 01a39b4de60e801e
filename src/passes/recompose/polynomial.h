// Converts arithmetic nodes to a polynomial. For example, 0.5 * x * (1 + x * x) and 0.5 * (x + x^3) are the
// same polynomial.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

using Polynomial = std::map<int, double>;  // coefficients other than 0, by the power of the variable

// Returns v as a polynomial in x, if v is computed by sums, differences, negations, products, integer powers
// and divisions by numbers. Views that only add or remove leading dims of 1 are ignored. Returns nullopt if
// another op is between x and v, or if the degree exceeds 4.
std::optional<Polynomial> PolynomialOf(const Value* v, const Value* x);

// True if the numbers are equal up to the rounding of constants of this type.
bool Near(double found, double expected, DType dtype);
// True if the powers are the same and the coefficients are Near.
bool Near(const Polynomial& found, const Polynomial& expected, DType dtype);

// PeelFactor expresses v as factor * value. It skips products and quotients of a value and a constant scalar,
// and Neg, and stops at a value with several readers. If there are no such nodes, factor is 1 and value is v.
struct Scaled {
  double factor = 1;
  Value* value = nullptr;
};
Scaled PeelFactor(Value* v);

}  // namespace tern
