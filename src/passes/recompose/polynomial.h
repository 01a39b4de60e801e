// Arithmetic with numbers, read back as a formula. Exporters write 0.5 * x * (1 + x * x) in every order there
// is; as polynomials all of them are the same.
#pragma once
#include <map>
#include <optional>

#include "ir/graph.h"

namespace tern {

using Polynomial = std::map<int, double>;  // coefficients by the power of the variable; none is 0

// v as a polynomial in x (with any number of ones in front of its dims), through sums, products, whole powers
// and divisions by numbers. Nothing when something else lies between, or when the degree exceeds 4.
std::optional<Polynomial> PolynomialOf(const Value* v, const Value* x);

// The same but for the rounding of constants of that type.
bool Near(double found, double expected, DType dtype);
// Has exactly these terms, nearly.
bool Near(const Polynomial& found, const Polynomial& expected, DType dtype);

// v = factor * rest, the factor a number, through products and quotients with numbers and negation that
// nobody else reads. The rest may be v itself.
struct Scaled {
  double factor = 1;
  Value* rest = nullptr;
};
Scaled PeelFactor(Value* v);

}  // namespace tern
