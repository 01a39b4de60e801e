// Converts functions of one tensor that apply to each element.
#include <cmath>

#include "import/mindir/ops/emit.h"

namespace tern::mindir {
namespace {

// Returns input 0. Integers become f32, as in MindSpore's functions with float results.
Value* FloatIn(Emit& e) {
  Value* x = e.n.In(0);
  return IsFloat(x->type.dtype) ? x : e.Cast(x, DType::kF32);
}

Converter Unary(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    n.Out(n.b.Op("Unary", {n.In(0)}, {{"kind", kind}}));
    return {};
  };
}

Converter FloatUnary(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    Emit e(n);
    n.Out(e.Unary(kind, FloatIn(e)));
    return {};
  };
}

// Returns a converter for a function that `compose` builds from ops on a float tensor.
Converter Composed(Value* (*compose)(Emit&, Value*)) {
  return [compose](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    Emit e(n);
    n.Out(compose(e, FloatIn(e)));
    return {};
  };
}

Value* LogTo(Emit& e, Value* x, double base) {
  return e.Mul(e.Unary("log", x), e.Like(x, 1 / std::log(base)));
}
Value* Log2(Emit& e, Value* x) { return LogTo(e, x, 2); }
Value* Log10(Emit& e, Value* x) { return LogTo(e, x, 10); }
Value* Log1p(Emit& e, Value* x) { return e.Unary("log", e.Add(x, e.Like(x, 1))); }
Value* Expm1(Emit& e, Value* x) { return e.Sub(e.Unary("exp", x), e.Like(x, 1)); }
Value* Exp2(Emit& e, Value* x) { return e.Unary("exp", e.Mul(x, e.Like(x, std::log(2.0)))); }
Value* Rsqrt(Emit& e, Value* x) { return e.Unary("reciprocal", e.Unary("sqrt", x)); }
Value* Erfc(Emit& e, Value* x) { return e.Sub(e.Like(x, 1), e.Unary("erf", x)); }

Value* Truncated(Emit& e, Value* x) {
  if (IsInt(x->type.dtype)) return x;
  return e.Where(e.Binary("less", x, e.Like(x, 0)), e.Unary("ceil", x), e.Unary("floor", x));
}

Value* Sinc(Emit& e, Value* x) {
  Value* scaled = e.Mul(x, e.Like(x, std::acos(-1.0)));
  Value* zero = e.Binary("equal", x, e.Like(x, 0));
  return e.Where(zero, e.Like(x, 1), e.Div(e.Unary("sin", scaled), e.Where(zero, e.Like(x, 1), scaled)));
}

// LogSigmoid also returns a buffer, which only the gradient needs.
Status LogSigmoid(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* y = e.Unary("neg", e.Unary("softplus", e.Unary("neg", n.In(0))));
  n.OutItem(Item::Tuple({Item::Of(y), Item::Text("the buffer of LogSigmoid")}));
  return {};
}

Status Trunc(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  n.Out(Truncated(e, n.In(0)));
  return {};
}

Status Frac(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  n.Out(e.Sub(n.In(0), Truncated(e, n.In(0))));
  return {};
}

Status Square(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  n.Out(e.Mul(n.In(0), n.In(0)));
  return {};
}

// Rounds to `decimals` digits after the point, half to even.
Status Round(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* x = n.In(0);
  const int64_t decimals = n.Int(1, {"decimals"}, 0);
  if (decimals < -30 || decimals > 30) return n.NotYet("decimals ", decimals);
  if (IsInt(x->type.dtype) && decimals == 0) {
    n.OutItem(n.inputs()[0]);
    return {};
  }
  if (!IsFloat(x->type.dtype)) return n.NotYet("decimals for integers");
  Value* factor = e.Like(x, std::pow(10.0, static_cast<double>(decimals)));
  n.Out(decimals == 0 ? e.Unary("round", x) : e.Div(e.Unary("round", e.Mul(x, factor)), factor));
  return {};
}

Status IsNan(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  n.Out(e.Unary("isnan", FloatIn(e)));
  return {};
}

Converter IsInf(bool negative, bool positive) {
  return [=](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0));
    Emit e(n);
    n.Out(n.b.Op("IsInf", {FloatIn(e)}, {{"negative", negative}, {"positive", positive}}));
    return {};
  };
}

Status IsFinite(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* x = FloatIn(e);
  n.Out(e.Not(e.Binary("or", e.Unary("isnan", x), n.b.Op("IsInf", {x}))));
  return {};
}

Status LogicalNot(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  Emit e(n);
  n.Out(e.Not(e.Cast(n.In(0), DType::kBool)));
  return {};
}

Status NanToNum(MindNode& n) {
  TERN_TRY(Require(n, 0, kFloats));
  Emit e(n);
  Value* x = n.In(0);
  const DType t = x->type.dtype;
  const double most = t == DType::kF16   ? 65504
                      : t == DType::kF64 ? 1.7976931348623157e308
                                         : 3.4028234663852886e38;
  const auto replace = [&](Value* where, Value* y, double with) {
    return e.Where(where, e.Like(x, with), y);
  };
  Value* y = replace(e.Unary("isnan", x), x, n.Float(1, {"nan"}, 0));
  y = replace(n.b.Op("IsInf", {x}, {{"negative", false}}), y, n.Float(2, {"posinf"}, most));
  y = replace(n.b.Op("IsInf", {x}, {{"positive", false}}), y, n.Float(3, {"neginf"}, -most));
  n.Out(y);
  return {};
}

Status Cast(MindNode& n) {
  const DType to = n.TypeArg(1, {"dst_type", "DstT", "dtype"}, DType::kInvalid);
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  if (to == DType::kInvalid) return n.Bad("the type of the result is missing");
  if (IsComplex(to)) return n.NotYet("complex numbers");
  Emit e(n);
  if (const Tensor* number = ConstantOf(n.inputs()[0]);
      number && number->size() == 1 && number->rank() == 0) {
    // A constant stays a constant, so that later nodes can read it.
    Tensor cast(to, {});
    if (IsFloat(number->dtype()))
      FromDoubles(ToDoubles(*number), cast);
    else
      FromLongs(ToLongs(*number), cast);
    n.OutItem(Item::Constant(std::move(cast), n.inputs()[0].number));
    return {};
  }
  n.Out(e.Cast(n.In(0), to));
  return {};
}

Status CastLike(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  TERN_TRY(Require(n, 1, kNumbers | kBools));
  Emit e(n);
  n.Out(e.Cast(n.In(0), n.In(1)->type.dtype));
  return {};
}

}  // namespace

TERN_CONVERTERS(elementwise) {
  for (const auto& [name, kind] :
       std::initializer_list<std::pair<const char*, const char*>>{{"Abs", "abs"},
                                                                  {"Neg", "neg"},
                                                                  {"Sign", "sign"},
                                                                  {"Ceil", "ceil"},
                                                                  {"Floor", "floor"},
                                                                  {"ReLU", "relu"},
                                                                  {"ReLUV3", "relu"},
                                                                  {"Rint", "round"}})
    table.Add(name, Unary(kind));
  for (const auto& [name, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Sqrt", "sqrt"},         {"Reciprocal", "reciprocal"},
           {"Inv", "reciprocal"},    {"Exp", "exp"},
           {"Log", "log"},           {"Sin", "sin"},
           {"Cos", "cos"},           {"Tan", "tan"},
           {"Asin", "asin"},         {"AsinExt", "asin"},
           {"ACos", "acos"},         {"AcosExt", "acos"},
           {"Atan", "atan"},         {"AtanExt", "atan"},
           {"Sinh", "sinh"},         {"Cosh", "cosh"},
           {"Tanh", "tanh"},         {"Asinh", "asinh"},
           {"AsinhExt", "asinh"},    {"Acosh", "acosh"},
           {"AcoshExt", "acosh"},    {"Atanh", "atanh"},
           {"Erf", "erf"},           {"Sigmoid", "sigmoid"},
           {"Softplus", "softplus"}, {"Softsign", "softsign"},
           {"HSwish", "hard_swish"}, {"Mish", "mish"},
           {"MishExt", "mish"}})
    table.Add(name, FloatUnary(kind));
  table.Add("Log2", Composed(Log2));
  table.Add("Log10", Composed(Log10));
  table.Add("Log1p", Composed(Log1p));
  table.Add("Expm1", Composed(Expm1));
  table.Add("Exp2", Composed(Exp2));
  table.Add("Rsqrt", Composed(Rsqrt));
  table.Add("Erfc", Composed(Erfc));
  table.Add("LogSigmoid", LogSigmoid);
  table.Add("Sinc", Composed(Sinc));
  table.Add("Trunc", Trunc);
  table.Add("Frac", Frac);
  table.Add("Square", Square);
  table.Add("Round", Round);
  table.Add("IsNan", IsNan);
  table.Add("IsInf", IsInf(true, true));
  table.Add("IsNegInf", IsInf(true, false));
  table.Add("IsFinite", IsFinite);
  table.Add("LogicalNot", LogicalNot);
  table.Add("BoolNot", LogicalNot);
  table.Add("BitwiseNot", Unary("bitwise_not"));
  table.Add("Invert", Unary("bitwise_not"));
  table.Add("NanToNum", NanToNum);
  table.Add("Cast", Cast);
  table.Add("ToDtype", Cast);
  table.Add("TypeAs", CastLike);
}

}  // namespace tern::mindir
