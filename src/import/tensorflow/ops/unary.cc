// Converts functions of one tensor.
#include <cmath>

#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

Status NotComplex(TfNode& n) {
  for (int i = 0; i < n.InputCount(); ++i)
    if (n.At(i).complex) return n.NotYet("complex numbers");
  return {};
}

Converter Kind(const char* kind) {
  return [kind](TfNode& n) -> Status {
    TERN_TRY(NotComplex(n));
    return MapInput(n, [&](Value* x) { return n.Unary(kind, x); });
  };
}

Converter Map(Value* (*function)(TfNode& n, Value* x)) {
  return [function](TfNode& n) -> Status {
    TERN_TRY(NotComplex(n));
    return MapInput(n, [&](Value* x) { return function(n, x); });
  };
}

Value* Select(TfNode& n, Value* condition, Value* a, Value* b) { return n.Op("Where", {condition, a, b}); }

Value* Square(TfNode& n, Value* x) { return n.Binary("mul", x, x); }
Value* Rsqrt(TfNode& n, Value* x) { return n.Unary("reciprocal", n.Unary("sqrt", x)); }
Value* Erfc(TfNode& n, Value* x) { return n.Binary("sub", n.Like(x, 1), n.Unary("erf", x)); }
Value* Relu6(TfNode& n, Value* x) { return n.Op("Clip", {x, n.Like(x, 0), n.Like(x, 6)}); }
Value* LeakyRelu(TfNode& n, Value* x) {
  return n.Op("Activation", {x}, {{"kind", "leaky_relu"}, {"alpha", static_cast<double>(n.Float("alpha"))}});
}
Value* Elu(TfNode& n, Value* x) { return n.Op("Activation", {x}, {{"kind", "elu"}, {"alpha", 1.0}}); }
Value* Selu(TfNode& n, Value* x) {
  return n.Op("Activation", {x},
              {{"kind", "selu"},
               {"alpha", 1.6732632423543772848170429916717},
               {"beta", 1.0507009873554804934193349852946}});
}

// log(u) * x / (u - 1) with u = 1 + x is exact where log(1 + x) loses digits.
Value* Log1p(TfNode& n, Value* x) {
  Value* one = n.Like(x, 1);
  Value* u = n.Binary("add", x, one);
  Value* d = n.Binary("sub", u, one);
  Value* exact = n.Binary("mul", n.Unary("log", u), n.Binary("div", x, d));
  Value* infinite = n.Op("IsInf", {x});
  return Select(n, n.Binary("equal", d, n.Like(x, 0)), x, Select(n, infinite, n.Unary("log", u), exact));
}

Value* Expm1(TfNode& n, Value* x) {
  Value* one = n.Like(x, 1);
  Value* u = n.Unary("exp", x);
  Value* d = n.Binary("sub", u, one);
  Value* exact = n.Binary("mul", d, n.Binary("div", x, n.Unary("log", u)));
  Value* large = n.Binary("greater", n.Unary("abs", x), n.Like(x, 0.5));
  return Select(n, large, d, Select(n, n.Binary("equal", u, one), x, exact));
}

Value* IsFinite(TfNode& n, Value* x) {
  return n.Unary("not", n.Binary("or", n.Op("IsInf", {x}), n.Unary("isnan", x)));
}

// Starts with Winitzki's formula, and then does two steps of Newton's method.
Value* Erfinv(TfNode& n, Value* x) {
  const double a = 0.147, two_pi_a = 2 / (M_PI * a);
  Value* one = n.Like(x, 1);
  Value* ln = n.Unary("log", n.Binary("mul", n.Binary("sub", one, x), n.Binary("add", one, x)));
  Value* t = n.Binary("add", n.Like(x, two_pi_a), n.Binary("mul", ln, n.Like(x, 0.5)));
  Value* root = n.Unary("sqrt", n.Binary("sub", n.Binary("mul", t, t), n.Binary("div", ln, n.Like(x, a))));
  Value* start = n.Binary("mul", n.Unary("sign", x), n.Unary("sqrt", n.Binary("sub", root, t)));
  Value* y = start;
  for (int i = 0; i < 2; ++i) {
    Value* error = n.Binary("sub", n.Unary("erf", y), x);
    Value* slope = n.Binary("mul", n.Like(x, 2 / std::sqrt(M_PI)),
                            n.Unary("exp", n.Unary("neg", n.Binary("mul", y, y))));
    y = n.Binary("sub", y, n.Binary("div", error, slope));
  }
  // Newton's step is not defined at -1 and 1.
  Value* end = n.Binary("equal", n.Unary("abs", x), one);
  return Select(n, end, start, y);
}

Value* Ndtri(TfNode& n, Value* x) {
  Value* z = n.Binary("sub", n.Binary("mul", x, n.Like(x, 2)), n.Like(x, 1));
  return n.Binary("mul", Erfinv(n, z), n.Like(x, std::sqrt(2.0)));
}

// Converts elements to the type DstT, also from and to complex types.
Status Cast(TfNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("DstT"));
  if (IsComplex(to)) {
    if (n.IsComplex(0)) {
      n.Out(0, Edge::Complex(n.Cast(n.In(0), to == DType::kC64 ? DType::kF32 : DType::kF64)));
      return {};
    }
    Value* re = n.Unsqueeze(n.Cast(n.In(0), to == DType::kC64 ? DType::kF32 : DType::kF64), {-1});
    n.Out(0, Edge::Complex(n.Concat({re, n.Binary("mul", re, n.Like(re, 0))}, -1)));
    return {};
  }
  if (n.IsComplex(0)) {
    Value* re = n.Op("Gather",
                     {n.In(0), n.Op("Fill", {n.b.Ints({})}, {{"value", Tensor::Of(DType::kI64, {1}, {0})}})},
                     {{"axis", -1}});
    n.Out(0, n.Cast(re, to));
    return {};
  }
  return MapInput(n, [&](Value* x) -> Value* {
    // Tern's Cast to an integer gives the same results as TensorFlow's. Both keep the low bits and truncate
    // floats.
    return n.Cast(x, to);
  });
}

}  // namespace

TERN_CONVERTERS(unary) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"Abs", "abs"},           {"Neg", "neg"},
      {"Sign", "sign"},         {"Ceil", "ceil"},
      {"Floor", "floor"},       {"Rint", "round"},
      {"Sqrt", "sqrt"},         {"Reciprocal", "reciprocal"},
      {"Inv", "reciprocal"},    {"Exp", "exp"},
      {"Log", "log"},           {"Sin", "sin"},
      {"Cos", "cos"},           {"Tan", "tan"},
      {"Asin", "asin"},         {"Acos", "acos"},
      {"Atan", "atan"},         {"Sinh", "sinh"},
      {"Cosh", "cosh"},         {"Tanh", "tanh"},
      {"Asinh", "asinh"},       {"Acosh", "acosh"},
      {"Atanh", "atanh"},       {"Erf", "erf"},
      {"Sigmoid", "sigmoid"},   {"Relu", "relu"},
      {"Softplus", "softplus"}, {"Softsign", "softsign"},
      {"LogicalNot", "not"},    {"Invert", "bitwise_not"},
      {"IsNan", "isnan"}};
  for (const auto& [op, kind] : kKinds) table.Add(op, Kind(kind));
  table.Add("Round", [](TfNode& n) {
    return MapInput(n, [&](Value* x) { return IsInt(x->type.dtype) ? x : n.Unary("round", x); });
  });
  table.Add("Square", Map(Square));
  table.Add("Rsqrt", Map(Rsqrt));
  table.Add("Erfc", Map(Erfc));
  table.Add("Relu6", Map(Relu6));
  table.Add("LeakyRelu", Map(LeakyRelu));
  table.Add("Elu", Map(Elu));
  table.Add("Selu", Map(Selu));
  table.Add("Log1p", Map(Log1p));
  table.Add("Expm1", Map(Expm1));
  table.Add("Erfinv", Map(Erfinv));
  table.Add("Ndtri", Map(Ndtri));
  table.Add("IsFinite", Map(IsFinite));
  table.Add("IsInf", Map([](TfNode& n, Value* x) { return n.Op("IsInf", {x}); }));
  table.Add("Cast", Cast);
}

}  // namespace tern::tensorflow
