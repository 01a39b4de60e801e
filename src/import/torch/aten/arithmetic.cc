// Arithmetic with two operands.
#include <cmath>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

DType TypeOfOperands(AtenNode& n, std::string_view a = "self", std::string_view b = "other") {
  return ResultType({&n.Get(a), &n.Get(b)});
}

bool IsOne(const Arg& a) { return a.none() || (a.known() && a.AsDouble() == 1); }

Status AddSub(AtenNode& n, bool subtract, const char* left, const char* right) {
  const DType t = TypeOfOperands(n);
  Emit e(n.b);
  Value *x = As(n, left, t), *y = As(n, right, t);
  if (t == DType::kBool) {
    n.Out(e.Binary("or", x, y));
    return {};
  }
  if (!IsOne(n.Get("alpha"))) y = e.Mul(y, As(n, "alpha", t));
  n.Out(subtract ? e.Sub(x, y) : e.Add(x, y));
  return {};
}

Status Multiply(AtenNode& n) {
  if (n.Var("self") && n.Var("self")->complex) return MultiplyComplex(n);
  if (n.Var("other") && n.Var("other")->complex) return MultiplyComplex(n);
  const DType t = TypeOfOperands(n);
  Emit e(n.b);
  Value *x = As(n, "self", t), *y = As(n, "other", t);
  n.Out(e.Binary(t == DType::kBool ? "and" : "mul", x, y));
  return {};
}

Status Divide(AtenNode& n) {
  const std::string mode = n.Text("rounding_mode");
  const DType t = TypeOfOperands(n);
  if (mode == "floor") {
    n.Out(FloorDivide(n.b, As(n, "self", t), As(n, "other", t)));
  } else if (mode == "trunc") {
    Value* q = Emit(n.b).Div(As(n, "self", t), As(n, "other", t));
    n.Out(IsFloat(t) ? Trunc(n.b, q) : q);
  } else if (mode.empty()) {
    n.Out(Emit(n.b).Div(As(n, "self", FloatOf(t)), As(n, "other", FloatOf(t))));
  } else {
    return n.Bad("rounding mode '", mode, "'");
  }
  return {};
}

Status FloorDivision(AtenNode& n) {
  const DType t = TypeOfOperands(n);
  n.Out(FloorDivide(n.b, As(n, "self", t), As(n, "other", t)));
  return {};
}

Converter Promoted(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    DType t = TypeOfOperands(n);
    const bool logical = t == DType::kBool;
    if (logical) t = DType::kU8;
    Emit e(n.b);
    Value* y = e.Binary(kind, As(n, "self", t), As(n, "other", t));
    n.Out(logical && y->type.dtype != DType::kBool ? e.Cast(y, DType::kBool) : y);
    return {};
  };
}

Converter Bitwise(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    const DType t = TypeOfOperands(n);
    const std::string op = t == DType::kBool ? kind : StrCat("bit_", kind);
    n.Out(Emit(n.b).Binary(op.c_str(), As(n, "self", t), As(n, "other", t)));
    return {};
  };
}

Converter Logical(const char* kind) {
  return [kind](AtenNode& n) -> Status {
    n.Out(Emit(n.b).Binary(kind, As(n, "self", DType::kBool), As(n, "other", DType::kBool)));
    return {};
  };
}

Converter Compare(const char* kind, bool negate = false) {
  return [kind, negate](AtenNode& n) -> Status {
    DType t = TypeOfOperands(n);
    if (t == DType::kBool && std::string_view(kind) != "equal") t = DType::kU8;
    Emit e(n.b);
    Value* y = e.Binary(kind, As(n, "self", t), As(n, "other", t));
    n.Out(negate ? e.Not(y) : y);
    return {};
  };
}

Status Power(AtenNode& n) {
  const DType t = TypeOfOperands(n, "self", "exponent");
  Value* base = As(n, "self", t);
  const Arg& exponent = n.Get("exponent");
  if (exponent.known() && exponent.AsDouble() == 1) {
    n.Out(base);
    return {};
  }
  n.Out(Emit(n.b).Binary("pow", base, As(n, exponent, t)));
  return {};
}

// atan2(y, x): atan(y / x), moved into the right quadrant.
Status Atan2(AtenNode& n) {
  const DType t = FloatOf(TypeOfOperands(n));
  Emit e(n.b);
  Value *y = As(n, "self", t), *x = As(n, "other", t);
  Value *zero = n.b.Scalar(t, 0), *pi = n.b.Scalar(t, M_PI), *half = n.b.Scalar(t, M_PI / 2);
  Value* angle = e.Unary("atan", e.Div(y, x));
  Value* y_negative = e.Binary("less", y, zero);
  Value* shift = e.Where(y_negative, e.Unary("neg", pi), pi);
  Value* left = e.Where(e.Binary("less", x, zero), e.Add(angle, shift), angle);
  Value* vertical =
      e.Where(e.Binary("equal", y, zero), zero, e.Where(y_negative, e.Unary("neg", half), half));
  n.Out(e.Where(e.Binary("equal", x, zero), vertical, left));
  return {};
}

Status Lerp(AtenNode& n) {
  const DType t = ResultType({&n.Get("self"), &n.Get("end"), &n.Get("weight")});
  Emit e(n.b);
  Value* x = As(n, "self", t);
  n.Out(e.Add(x, e.Mul(As(n, "weight", t), e.Sub(As(n, "end", t), x))));
  return {};
}

Status AddProduct(AtenNode& n, bool divide) {
  const DType t = ResultType({&n.Get("self"), &n.Get("tensor1"), &n.Get("tensor2")});
  Emit e(n.b);
  Value *x = As(n, "tensor1", t), *y = As(n, "tensor2", t);
  Value* p = divide ? e.Div(x, y) : e.Mul(x, y);
  if (!IsOne(n.Get("value"))) p = e.Mul(p, As(n, "value", t));
  n.Out(e.Add(As(n, "self", t), p));
  return {};
}

// log(exp(x) + exp(y)) = max + log1p(exp(-|x - y|))
Status LogAddExp(AtenNode& n) {
  const DType t = FloatOf(TypeOfOperands(n));
  Emit e(n.b);
  Value *x = As(n, "self", t), *y = As(n, "other", t);
  Value* gap = e.Unary("neg", e.Unary("abs", e.Sub(x, y)));
  n.Out(e.Add(e.Binary("max", x, y), e.Unary("softplus", gap)));
  return {};
}

Status Hypot(AtenNode& n) {
  const DType t = TypeOfOperands(n);
  Emit e(n.b);
  Value *x = As(n, "self", t), *y = As(n, "other", t);
  n.Out(e.Unary("sqrt", e.Add(e.Mul(x, x), e.Mul(y, y))));
  return {};
}

Status CopySign(AtenNode& n) {
  const DType t = FloatOf(TypeOfOperands(n));
  Emit e(n.b);
  Value *x = e.Unary("abs", As(n, "self", t)), *y = As(n, "other", t);
  n.Out(e.Where(e.Binary("less", y, e.Like(y, 0)), e.Unary("neg", x), x));
  return {};
}

// x * log(y), and 0 where x is 0.
Status XLogY(AtenNode& n) {
  const DType t = FloatOf(TypeOfOperands(n));
  Emit e(n.b);
  Value *x = As(n, "self", t), *y = As(n, "other", t);
  n.Out(e.Where(e.Binary("equal", x, e.Like(x, 0)), e.Like(x, 0), e.Mul(x, e.Unary("log", y))));
  return {};
}

}  // namespace

Value* Trunc(Builder& b, Value* x) {
  Emit e(b);
  return e.Where(e.Binary("less", x, e.Like(x, 0)), e.Unary("ceil", x), e.Unary("floor", x));
}

Value* FloorDivide(Builder& b, Value* x, Value* y) {
  Emit e(b);
  if (IsFloat(x->type.dtype)) return e.Unary("floor", e.Div(x, y));
  if (IsUnsignedInt(x->type.dtype)) return e.Div(x, y);
  return e.Div(e.Sub(x, e.Binary("mod", x, y)), y);
}

TERN_CONVERTERS(arithmetic) {
  table.Add("aten::add", [](AtenNode& n) { return AddSub(n, false, "self", "other"); });
  table.Add("aten::sub", [](AtenNode& n) { return AddSub(n, true, "self", "other"); });
  table.Add("aten::subtract", [](AtenNode& n) { return AddSub(n, true, "self", "other"); });
  table.Add("aten::rsub", [](AtenNode& n) { return AddSub(n, true, "other", "self"); });
  table.Add("aten::mul", Multiply);
  table.Add("aten::multiply", Multiply);
  table.Add("aten::div", Divide);
  table.Add("aten::divide", Divide);
  table.Add("aten::true_divide", Divide);
  table.Add("aten::floor_divide", FloorDivision);
  table.Add("aten::remainder", Promoted("mod"));
  table.Add("aten::fmod", Promoted("fmod"));
  table.Add("aten::maximum", Promoted("max"));
  table.Add("aten::minimum", Promoted("min"));
  table.Add("aten::max.other", Promoted("max"));
  table.Add("aten::min.other", Promoted("min"));
  table.Add("aten::fmax", Promoted("max"));
  table.Add("aten::fmin", Promoted("min"));
  table.Add("aten::bitwise_and", Bitwise("and"));
  table.Add("aten::bitwise_or", Bitwise("or"));
  table.Add("aten::bitwise_xor", Bitwise("xor"));
  table.Add("aten::__and__", Bitwise("and"));
  table.Add("aten::__or__", Bitwise("or"));
  table.Add("aten::__xor__", Bitwise("xor"));
  table.Add("aten::bitwise_left_shift", Promoted("shift_left"));
  table.Add("aten::bitwise_right_shift", Promoted("shift_right"));
  table.Add("aten::__lshift__", Promoted("shift_left"));
  table.Add("aten::__rshift__", Promoted("shift_right"));
  table.Add("aten::logical_and", Logical("and"));
  table.Add("aten::logical_or", Logical("or"));
  table.Add("aten::logical_xor", Logical("xor"));
  table.Add("aten::eq", Compare("equal"));
  table.Add("aten::ne", Compare("equal", true));
  table.Add("aten::not_equal", Compare("equal", true));
  table.Add("aten::lt", Compare("less"));
  table.Add("aten::less", Compare("less"));
  table.Add("aten::le", Compare("less_equal"));
  table.Add("aten::less_equal", Compare("less_equal"));
  table.Add("aten::gt", Compare("greater"));
  table.Add("aten::greater", Compare("greater"));
  table.Add("aten::ge", Compare("greater_equal"));
  table.Add("aten::greater_equal", Compare("greater_equal"));
  table.Add("aten::pow", Power);
  table.Add("aten::atan2", Atan2);
  table.Add("aten::arctan2", Atan2);
  table.Add("aten::lerp", Lerp);
  table.Add("aten::addcmul", [](AtenNode& n) { return AddProduct(n, false); });
  table.Add("aten::addcdiv", [](AtenNode& n) { return AddProduct(n, true); });
  table.Add("aten::logaddexp", LogAddExp);
  table.Add("aten::hypot", Hypot);
  table.Add("aten::copysign", CopySign);
  table.Add("aten::xlogy", XLogY);
}

}  // namespace tern::torch
