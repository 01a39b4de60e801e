// Converts further operators.
#include <cmath>

#include "import/tensorflow/ops/elementwise.h"
#include "import/tensorflow/ops/window.h"

namespace tern::tensorflow {
namespace {

Status Empty(TfNode& n) {
  TERN_ASSIGN(const DType dtype, n.DTypeAttr("dtype"));
  if (IsComplex(dtype) || dtype == DType::kString) return n.NotYet("the type ", DTypeName(dtype));
  n.Out(0, n.Op("Fill", {n.In(0)}, {{"value", n.Numbers(dtype, {1}, {0})}}));
  return {};
}

// Returns a converter that changes rows i of x by v. Inputs: x, i, v.
Converter Inplace(const char* reduction, bool negate) {
  return [=](TfNode& n) -> Status {
    Value* v = negate ? n.Unary("neg", n.In(2)) : n.In(2);
    n.Out(0, n.Op("ScatterND", {n.In(0), n.Unsqueeze(n.Cast(n.In(1), DType::kI64), {1}), v},
                  {{"reduction", reduction}}));
    return {};
  };
}

// Inputs: a_indices [n, 2], a_values, a_shape, b.
Status SparseDenseProduct(TfNode& n) {
  Value* values = n.In(1);
  Value* zeros = n.Op("Fill", {n.In(2)}, {{"value", n.Numbers(values->type.dtype, {1}, {0})}});
  Value* a = n.Op("ScatterND", {zeros, n.In(0), values}, {{"reduction", "add"}});
  n.Out(0, n.Op("MatMul", {a, n.In(3)},
                {{"transpose_a", n.Bool("adjoint_a")}, {"transpose_b", n.Bool("adjoint_b")}}));
  return {};
}

Status SparseMatMul(TfNode& n) {
  n.Out(0, n.Op("MatMul", {n.Cast(n.In(0), DType::kF32), n.Cast(n.In(1), DType::kF32)},
                {{"transpose_a", n.Bool("transpose_a")}, {"transpose_b", n.Bool("transpose_b")}}));
  return {};
}

// sum over k of coefficients[k] * x^k
Value* Polynomial(TfNode& n, Value* x, const std::vector<double>& coefficients) {
  Value* y = n.Like(x, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;)
    y = n.Binary("add", n.Binary("mul", y, x), n.Like(x, coefficients[i]));
  return y;
}

// Uses the polynomials of Abramowitz and Stegun, 9.8.1 to 9.8.4. If `scaled` is true, leaves out the factor
// exp(|x|).
Value* Bessel(TfNode& n, Value* x, int order, bool scaled) {
  Value *a = n.Unary("abs", x), *limit = n.Like(x, 3.75), *ratio = n.Binary("div", a, limit);
  Value* t = n.Binary("mul", ratio, ratio);
  Value* safe = n.Binary("max", a, limit);
  Value* inverse = n.Binary("div", limit, safe);
  Value *small = nullptr, *large = nullptr;
  if (order == 0) {
    small = Polynomial(n, t, {1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813});
    large = Polynomial(n, inverse,
                       {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537,
                        -0.01647633, 0.00392377});
  } else {
    small = n.Binary(
        "mul", x,
        Polynomial(n, t, {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411}));
    large = Polynomial(n, inverse,
                       {0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967,
                        -0.02895312, 0.01787654, -0.00420059});
    large = n.Binary("mul", large, n.Unary("sign", x));
  }
  large = n.Binary("div", large, n.Unary("sqrt", safe));
  if (scaled)
    small = n.Binary("mul", small, n.Unary("exp", n.Unary("neg", a)));
  else
    large = n.Binary("mul", large, n.Unary("exp", safe));
  return n.Op("Where", {n.Binary("less", a, limit), small, large});
}

// Requires x >= 0.5. Uses Stirling's series at x + 8, and the recurrence down to x.
Value* LgammaPositive(TfNode& n, Value* x) {
  Value* product = x;
  for (int k = 1; k < 8; ++k) product = n.Binary("mul", product, n.Binary("add", x, n.Like(x, k)));
  Value* z = n.Binary("add", x, n.Like(x, 8));
  Value* inverse = n.Unary("reciprocal", z);
  Value* series = n.Binary(
      "mul", inverse,
      Polynomial(n, n.Binary("mul", inverse, inverse), {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680}));
  Value* main = n.Binary("sub", n.Binary("mul", n.Binary("sub", z, n.Like(x, 0.5)), n.Unary("log", z)), z);
  Value* sum = n.Binary("add", n.Binary("add", main, n.Like(x, 0.91893853320467274178)), series);
  return n.Binary("sub", sum, n.Unary("log", product));
}

// Uses the reflection formula for x below 0.5. Digamma does the same with the derivatives.
Value* Lgamma(TfNode& n, Value* x) {
  Value* low = n.Binary("less", x, n.Like(x, 0.5));
  Value* reflected = n.Binary("sub", n.Like(x, 1), x);
  Value* positive = LgammaPositive(n, n.Op("Where", {low, reflected, x}));
  Value* sine = n.Unary("abs", n.Unary("sin", n.Binary("mul", x, n.Like(x, M_PI))));
  Value* other = n.Binary("sub", n.Binary("sub", n.Like(x, std::log(M_PI)), n.Unary("log", sine)), positive);
  return n.Op("Where", {low, other, positive});
}

Value* Digamma(TfNode& n, Value* x) {
  Value* low = n.Binary("less", x, n.Like(x, 0.5));
  Value* at = n.Op("Where", {low, n.Binary("sub", n.Like(x, 1), x), x});
  Value* sum = n.Unary("reciprocal", at);
  for (int k = 1; k < 8; ++k)
    sum = n.Binary("add", sum, n.Unary("reciprocal", n.Binary("add", at, n.Like(x, k))));
  Value* z = n.Binary("add", at, n.Like(x, 8));
  Value* inverse = n.Unary("reciprocal", z);
  Value* square = n.Binary("mul", inverse, inverse);
  Value* series =
      n.Binary("mul", square, Polynomial(n, square, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240}));
  Value* y = n.Binary("sub", n.Binary("sub", n.Unary("log", z), n.Binary("mul", inverse, n.Like(x, 0.5))),
                      n.Binary("add", series, sum));
  Value* angle = n.Binary("mul", x, n.Like(x, M_PI));
  Value* cotangent = n.Binary("div", n.Unary("cos", angle), n.Unary("sin", angle));
  return n.Op("Where", {low, n.Binary("sub", y, n.Binary("mul", cotangent, n.Like(x, M_PI))), y});
}

using Function = Value* (*)(TfNode&, Value*);

Converter Map(Function function) {
  return [function](TfNode& n) { return MapInput(n, [&](Value* x) { return function(n, x); }); };
}

}  // namespace

TERN_CONVERTERS(misc) {
  table.Add("Empty", Empty);
  table.Add("InplaceUpdate", Inplace("none", false));
  table.Add("InplaceAdd", Inplace("add", false));
  table.Add("InplaceSub", Inplace("add", true));
  table.Add("SparseTensorDenseMatMul", SparseDenseProduct);
  table.Add("SparseMatMul", SparseMatMul);
  table.Add("BesselI0", Map([](TfNode& n, Value* x) { return Bessel(n, x, 0, false); }));
  table.Add("BesselI0e", Map([](TfNode& n, Value* x) { return Bessel(n, x, 0, true); }));
  table.Add("BesselI1", Map([](TfNode& n, Value* x) { return Bessel(n, x, 1, false); }));
  table.Add("BesselI1e", Map([](TfNode& n, Value* x) { return Bessel(n, x, 1, true); }));
  table.Add("Lgamma", Map(Lgamma));
  table.Add("Digamma", Map(Digamma));
}

}  // namespace tern::tensorflow
