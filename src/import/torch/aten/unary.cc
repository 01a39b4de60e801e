// Functions of one tensor, element by element.
#include <cmath>
#include <limits>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

// A function of floats. Ints become f32.
Converter OfFloat(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    n.Out(Emit(n.b).Unary(kind, InFloat(n, "self")));
    return {};
  };
}

// A function that keeps the type.
Converter OfNumber(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    if (n.Var("self") && n.Var("self")->complex) return AbsComplex(n);
    n.Out(Emit(n.b).Unary(kind, n.In("self")));
    return {};
  };
}

// Rounding leaves ints unchanged.
Converter Rounding(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    Value* x = n.In("self");
    if (n.Has("decimals") && n.Int("decimals") != 0) return n.NotYet("rounding to decimals");
    if (!IsFloat(x->type.dtype))
      n.Out(x);
    else
      n.Out(std::string_view(kind) == "trunc" ? Trunc(n.b, x) : Emit(n.b).Unary(kind, x));
    return {};
  };
}

using Formula = Value* (*)(Emit& e, Value* x);
Converter Composed(Formula formula) {
  return [formula](AtenNode& n) -> Status {
    Emit e(n.b);
    n.Out(formula(e, InFloat(n, "self")));
    return {};
  };
}

Value* Log1p(Emit& e, Value* x) {
  // log(u) * x / (u - 1) with u = 1 + x is exact where 1 + x rounds. Where u is 1, the result is x.
  Value *one = e.Like(x, 1), *u = e.Add(x, one);
  Value* tiny = e.Binary("equal", u, one);
  Value* gap = e.Where(tiny, one, e.Sub(u, one));
  Value* y = e.Where(e.b.Op("IsInf", {u}), u, e.Mul(e.Unary("log", u), e.Div(x, gap)));
  return e.Where(tiny, x, y);
}

Value* Expm1(Emit& e, Value* x) {
  // 2 * sinh(x / 2) * exp(x / 2), which is exact for small x.
  Value* half = e.Mul(x, e.Like(x, 0.5));
  Value* small = e.Mul(e.Mul(e.Like(x, 2), e.Unary("sinh", half)), e.Unary("exp", half));
  Value* large = e.Sub(e.Unary("exp", x), e.Like(x, 1));
  return e.Where(e.Binary("less", e.Unary("abs", x), e.Like(x, 1)), small, large);
}

Status Sign(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  if (x->type.dtype == DType::kBool) {
    n.Out(x);
    return {};
  }
  Value* y = e.Unary("sign", x);
  n.Out(IsFloat(x->type.dtype) ? e.Where(e.Unary("isnan", x), e.Like(x, 0), y) : y);  // the sign of NaN is 0
  return {};
}

Status Negate(AtenNode& n) {
  n.Out(Emit(n.b).Unary("neg", n.In("self")));
  return {};
}

Status LogicalNot(AtenNode& n) {
  n.Out(Emit(n.b).Not(As(n, "self", DType::kBool)));
  return {};
}

Status BitwiseNot(AtenNode& n) {
  Value* x = n.In("self");
  n.Out(Emit(n.b).Unary(x->type.dtype == DType::kBool ? "not" : "bitwise_not", x));
  return {};
}

// Emits a test on floats. For ints, its result is the constant `of_int`.
template <class F> Status Test(AtenNode& n, bool of_int, F&& test) {
  Emit e(n.b);
  Value* x = n.In("self");
  if (IsFloat(x->type.dtype))
    n.Out(test(e, x));
  else
    n.Out(e.Fill(e.Shape(x), DType::kBool, of_int));
  return {};
}

Status IsNan(AtenNode& n) {
  return Test(n, false, [](Emit& e, Value* x) { return e.Unary("isnan", x); });
}

Status IsInfinite(AtenNode& n) {
  return Test(n, false, [](Emit& e, Value* x) { return e.b.Op("IsInf", {x}); });
}

Status IsSignedInfinite(AtenNode& n, bool negative) {
  return Test(n, false, [=](Emit& e, Value* x) {
    return e.b.Op("IsInf", {x}, {{"negative", negative}, {"positive", !negative}});
  });
}

Status IsFinite(AtenNode& n) {
  return Test(n, true, [](Emit& e, Value* x) {
    return e.Not(e.Binary("or", e.b.Op("IsInf", {x}), e.Unary("isnan", x)));
  });
}

double LargestOf(DType t) {
  switch (t) {
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 3.3895313892515355e38;
    default:
      return std::numeric_limits<float>::max();
  }
}

Status NanToNum(AtenNode& n) {
  Value* x = n.In("self");
  if (!IsFloat(x->type.dtype)) {
    n.Out(x);
    return {};
  }
  Emit e(n.b);
  const double largest = LargestOf(x->type.dtype);
  Value* y = e.Where(e.Unary("isnan", x), e.Like(x, n.Float("nan")), x);
  y = e.Where(n.b.Op("IsInf", {x}, {{"negative", false}, {"positive", true}}),
              e.Like(x, n.Float("posinf", largest)), y);
  n.Out(e.Where(n.b.Op("IsInf", {x}, {{"negative", true}, {"positive", false}}),
                e.Like(x, n.Float("neginf", -largest)), y));
  return {};
}

Status Identity(AtenNode& n) {
  n.Out(n.In("self"));
  return {};
}

Status Logit(AtenNode& n) {
  Emit e(n.b);
  Value* x = InFloat(n, "self");
  if (n.Has("eps")) {
    const double eps = n.Float("eps");
    x = n.b.Op("Clip", {x, e.Like(x, eps), e.Like(x, 1 - eps)});
  }
  n.Out(e.Unary("log", e.Div(x, e.Sub(e.Like(x, 1), x))));
  return {};
}

Status SignBit(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  Value *zero = e.Like(x, 0), *negative = e.Binary("less", x, zero);
  if (IsFloat(x->type.dtype))  // 1 / -0 is negative
    negative = e.Binary("or", negative, e.Binary("less", e.Unary("reciprocal", x), zero));
  n.Out(negative);
  return {};
}

}  // namespace

TERN_CONVERTERS(unary) {
  for (const auto& [op, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"aten::sqrt", "sqrt"},       {"aten::reciprocal", "reciprocal"},
           {"aten::exp", "exp"},         {"aten::log", "log"},
           {"aten::sin", "sin"},         {"aten::cos", "cos"},
           {"aten::tan", "tan"},         {"aten::asin", "asin"},
           {"aten::acos", "acos"},       {"aten::atan", "atan"},
           {"aten::sinh", "sinh"},       {"aten::cosh", "cosh"},
           {"aten::tanh", "tanh"},       {"aten::asinh", "asinh"},
           {"aten::acosh", "acosh"},     {"aten::atanh", "atanh"},
           {"aten::erf", "erf"},         {"aten::sigmoid", "sigmoid"},
           {"aten::arcsin", "asin"},     {"aten::arccos", "acos"},
           {"aten::arctan", "atan"},     {"aten::arcsinh", "asinh"},
           {"aten::arccosh", "acosh"},   {"aten::arctanh", "atanh"},
           {"aten::special_erf", "erf"}, {"aten::special_expit", "sigmoid"}})
    table.Add(op, OfFloat(kind));
  table.Add("aten::abs", OfNumber("abs"));
  table.Add("aten::absolute", OfNumber("abs"));
  table.Add("aten::relu", OfNumber("relu"));
  table.Add("aten::neg", Negate);
  table.Add("aten::negative", Negate);
  table.Add("aten::positive", Identity);
  table.Add("aten::sign", Sign);
  table.Add("aten::sgn", Sign);
  table.Add("aten::ceil", Rounding("ceil"));
  table.Add("aten::floor", Rounding("floor"));
  table.Add("aten::round", Rounding("round"));
  table.Add("aten::trunc", Rounding("trunc"));
  table.Add("aten::fix", Rounding("trunc"));
  table.Add("aten::rsqrt",
            Composed([](Emit& e, Value* x) { return e.Unary("reciprocal", e.Unary("sqrt", x)); }));
  table.Add("aten::square", [](AtenNode& n) -> Status {
    Value* x = n.In("self");
    n.Out(Emit(n.b).Mul(x, x));
    return {};
  });
  table.Add("aten::log1p", Composed(Log1p));
  table.Add("aten::expm1", Composed(Expm1));
  table.Add("aten::log2",
            Composed([](Emit& e, Value* x) { return e.Mul(e.Unary("log", x), e.Like(x, 1 / M_LN2)); }));
  table.Add("aten::log10",
            Composed([](Emit& e, Value* x) { return e.Mul(e.Unary("log", x), e.Like(x, 1 / M_LN10)); }));
  table.Add("aten::exp2", Composed([](Emit& e, Value* x) { return e.Binary("pow", e.Like(x, 2), x); }));
  table.Add("aten::erfc", Composed([](Emit& e, Value* x) { return e.Sub(e.Like(x, 1), e.Unary("erf", x)); }));
  table.Add("aten::frac", Composed([](Emit& e, Value* x) { return e.Sub(x, Trunc(e.b, x)); }));
  table.Add("aten::deg2rad", Composed([](Emit& e, Value* x) { return e.Mul(x, e.Like(x, M_PI / 180)); }));
  table.Add("aten::rad2deg", Composed([](Emit& e, Value* x) { return e.Mul(x, e.Like(x, 180 / M_PI)); }));
  table.Add("aten::sinc", Composed([](Emit& e, Value* x) {
              Value *pix = e.Mul(x, e.Like(x, M_PI)), *zero = e.Binary("equal", x, e.Like(x, 0)),
                    *one = e.Like(x, 1);
              return e.Where(zero, one, e.Div(e.Unary("sin", pix), e.Where(zero, one, pix)));
            }));
  table.Add("aten::logical_not", LogicalNot);
  table.Add("aten::bitwise_not", BitwiseNot);
  table.Add("aten::isnan", IsNan);
  table.Add("aten::isinf", IsInfinite);
  table.Add("aten::isfinite", IsFinite);
  table.Add("aten::isposinf", [](AtenNode& n) { return IsSignedInfinite(n, false); });
  table.Add("aten::isneginf", [](AtenNode& n) { return IsSignedInfinite(n, true); });
  table.Add("aten::nan_to_num", NanToNum);
  table.Add("aten::logit", Logit);
  table.Add("aten::special_logit", Logit);
  table.Add("aten::signbit", SignBit);
}

}  // namespace tern::torch
