// Converts functions of two and more tensors that apply to each element.
#include "import/mindir/ops/promote.h"

namespace tern::mindir {
namespace {

Converter Binary(const char* kind) {
  return [kind](MindNode& n) -> Status {
    Emit e(n);
    const auto [x, y] = Promoted(e, 0, 1);
    n.Out(e.Binary(kind, x, y));
    return {};
  };
}

// Adds or subtracts the second operand times a factor (input 2).
Converter Scaled(const char* kind) {
  return [kind](MindNode& n) -> Status {
    Emit e(n);
    auto [x, y] = Promoted(e, 0, 1);
    const double alpha = n.Float(2, {"alpha"}, 1);
    if (alpha != 1) y = e.Mul(y, e.Like(y, alpha));
    n.Out(e.Binary(kind, x, y));
    return {};
  };
}

Converter Logical(const char* kind) {
  return [kind](MindNode& n) -> Status {
    TERN_TRY(Require(n, 0, kNumbers | kBools));
    TERN_TRY(Require(n, 1, kNumbers | kBools));
    Emit e(n);
    n.Out(e.Binary(kind, e.Cast(n.In(0), DType::kBool), e.Cast(n.In(1), DType::kBool)));
    return {};
  };
}

// Comparisons convert bools to numbers, because Tern orders numbers only.
Converter Compare(const char* kind, bool negate = false) {
  return [=](MindNode& n) -> Status {
    Emit e(n);
    auto [x, y] = Promoted(e, 0, 1);
    if (x->type.dtype == DType::kBool) {
      x = e.Cast(x, DType::kI32);
      y = e.Cast(y, DType::kI32);
    }
    Value* result = e.Binary(kind, x, y);
    n.Out(negate ? e.Not(result) : result);
    return {};
  };
}

// Returns both operands as floats of a common type.
std::pair<Value*, Value*> Floats(Emit& e) {
  auto [x, y] = Promoted(e, 0, 1);
  if (IsFloat(x->type.dtype)) return {x, y};
  return {e.Cast(x, DType::kF32), e.Cast(y, DType::kF32)};
}

Status FloatDiv(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  n.Out(e.Div(x, y));
  return {};
}

// Integer division of Tern truncates.
Value* FloorDivOf(Emit& e, Value* x, Value* y) {
  if (IsFloat(x->type.dtype)) return e.Unary("floor", e.Div(x, y));
  return e.Div(e.Sub(x, e.Binary("mod", x, y)), y);
}

Value* TruncDivOf(Emit& e, Value* x, Value* y) {
  Value* q = e.Div(x, y);
  if (!IsFloat(x->type.dtype)) return q;
  return e.Where(e.Binary("less", q, e.Like(q, 0)), e.Unary("ceil", q), e.Unary("floor", q));
}

Status FloorDiv(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  n.Out(FloorDivOf(e, x, y));
  return {};
}

Status TruncateDiv(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  n.Out(TruncDivOf(e, x, y));
  return {};
}

Status DivMod(MindNode& n) {
  Emit e(n);
  const std::string mode = n.Text(2, {"rounding_mode"}, "none", {"round", "trunc", "floor", "ceil"});
  if (mode == "none") return FloatDiv(n);
  if (mode == "floor") return FloorDiv(n);
  if (mode == "trunc") return TruncateDiv(n);
  return n.NotYet("rounding_mode ", mode);
}

// The remainder has the sign of the divisor.
Status FloorMod(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  n.Out(IsInt(x->type.dtype) ? e.Binary("mod", x, y) : e.Sub(x, e.Mul(e.Unary("floor", e.Div(x, y)), y)));
  return {};
}

// x / y, and 0 where y is 0.
Status DivNoNan(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  Value* zero = e.Binary("equal", y, e.Like(y, 0));
  n.Out(e.Where(zero, e.Like(x, 0), e.Div(x, e.Where(zero, e.Like(y, 1), y))));
  return {};
}

// x * y, and 0 where y is 0, even if x is not finite.
Status MulNoNan(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  n.Out(e.Where(e.Binary("equal", y, e.Like(y, 0)), e.Like(x, 0), e.Mul(x, y)));
  return {};
}

// x / y or x * log(y), and 0 where x is 0.
Converter ZeroIfZero(bool logarithm) {
  return [=](MindNode& n) -> Status {
    Emit e(n);
    const auto [x, y] = Floats(e);
    Value* zero = e.Binary("equal", x, e.Like(x, 0));
    Value* safe = e.Where(zero, e.Like(y, 1), y);
    Value* value = logarithm ? e.Mul(x, e.Unary("log", safe)) : e.Div(x, safe);
    n.Out(e.Where(zero, e.Like(x, 0), value));
    return {};
  };
}

Status SquaredDifference(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  Value* d = e.Sub(x, y);
  n.Out(e.Mul(d, d));
  return {};
}

Status Hypot(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  n.Out(e.Unary("sqrt", e.Add(e.Mul(x, x), e.Mul(y, y))));
  return {};
}

// log(exp(x) + exp(y)) = max(x, y) + softplus(-|x - y|)
Status LogAddExp(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  Value* distance = e.Unary("neg", e.Unary("abs", e.Sub(x, y)));
  n.Out(e.Add(e.Binary("max", x, y), e.Unary("softplus", distance)));
  return {};
}

Status Atan2(MindNode& n) {
  Emit e(n);
  const auto operands = Floats(e);
  Value *y = operands.first, *x = operands.second;
  const double pi = 3.14159265358979323846;
  const auto number = [&](double v) { return e.Like(x, v); };
  Value *x_zero = e.Binary("equal", x, number(0)), *y_negative = e.Binary("less", y, number(0));
  Value* angle = e.Unary("atan", e.Div(y, e.Where(x_zero, number(1), x)));
  Value* shifted = e.Add(angle, e.Where(y_negative, number(-pi), number(pi)));
  Value* general = e.Where(e.Binary("less", x, number(0)), shifted, angle);
  Value* vertical = e.Mul(e.Unary("sign", y), number(pi / 2));
  n.Out(e.Where(x_zero, vertical, general));
  return {};
}

Status Pow(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  n.Out(e.Binary("pow", x, y));
  return {};
}

// |x - y| <= atol + rtol * |y|
Status IsClose(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  const auto scaled = e.Mul(e.Unary("abs", y), e.Like(y, n.Float(2, {"rtol"}, 1e-5)));
  Value* limit = e.Add(scaled, e.Like(y, n.Float(3, {"atol"}, 1e-8)));
  Value* close = e.Binary("less_equal", e.Unary("abs", e.Sub(x, y)), limit);
  close = e.Binary("or", close, e.Binary("equal", x, y));
  if (n.Bool(4, {"equal_nan"}))
    close = e.Binary("or", close, e.Binary("and", e.Unary("isnan", x), e.Unary("isnan", y)));
  n.Out(close);
  return {};
}

Status ApproximateEqual(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Floats(e);
  Value* limit = e.Like(x, n.Float(n.kAttribute, {"tolerance"}, 1e-5));
  n.Out(e.Binary("less", e.Unary("abs", e.Sub(x, y)), limit));
  return {};
}

Status AddN(MindNode& n) {
  std::vector<Value*> parts = n.InputCount() == 1 ? n.Tensors(0) : std::vector<Value*>();
  for (int i = 0; n.InputCount() > 1 && i < n.InputCount(); ++i) parts.push_back(n.In(i));
  if (parts.empty()) return n.Bad("needs an input");
  Emit e(n);
  PromoteAll(e, parts);
  Value* sum = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) sum = e.Add(sum, parts[i]);
  n.Out(sum);
  return {};
}

// start + weight * (end - start)
Status Lerp(MindNode& n) {
  Emit e(n);
  const auto [x, y] = Promoted(e, 0, 1);
  if (!n.Has(2)) return n.Bad("input 2 is missing");
  n.Out(e.Add(x, e.Mul(e.Cast(n.In(2), x->type.dtype), e.Sub(y, x))));
  return {};
}

// x + value * (a op b)
Converter AddProduct(const char* kind) {
  return [kind](MindNode& n) -> Status {
    if (n.InputCount() < 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
    Emit e(n);
    std::vector<Value*> values = {n.In(0), n.In(1), n.In(2)};
    PromoteAll(e, values);
    Value* term = e.Binary(kind, values[1], values[2]);
    if (n.Has(3)) term = e.Mul(term, e.Cast(n.In(3), term->type.dtype));
    n.Out(e.Add(values[0], term));
    return {};
  };
}

// Limits x to [min, max]. Both limits are tensors, numbers or None.
Status Clamp(MindNode& n) {
  TERN_TRY(Require(n, 0));
  Emit e(n);
  Value* y = n.In(0);
  if (Value* low = n.In(1)) y = e.Binary("max", y, e.Cast(low, y->type.dtype));
  if (Value* high = n.In(2)) y = e.Binary("min", y, e.Cast(high, y->type.dtype));
  n.Out(y);
  return {};
}

Status Select(MindNode& n) {
  if (n.InputCount() < 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  Emit e(n);
  const auto [x, y] = Promoted(e, 1, 2);
  n.Out(e.Where(e.Cast(n.In(0), DType::kBool), x, y));
  return {};
}

Status MaskedFill(MindNode& n) {
  if (n.InputCount() < 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  Emit e(n);
  Value* x = n.In(0);
  n.Out(e.Where(e.Cast(n.In(1), DType::kBool), e.Cast(n.In(2), x->type.dtype), x));
  return {};
}

void AddArithmetic(ConverterTable& table) {
  for (const char* name : {"Add", "TensorAdd", "AddV2"}) table.Add(name, Binary("add"));
  for (const char* name : {"AddExt", "AddScalar"}) table.Add(name, Scaled("add"));
  for (const char* name : {"SubExt", "SubScalar"}) table.Add(name, Scaled("sub"));
  table.Add("Sub", Binary("sub"));
  for (const char* name : {"Mul", "Muls"}) table.Add(name, Binary("mul"));
  for (const char* name : {"Div", "RealDiv", "Divs"}) table.Add(name, FloatDiv);
  for (const char* name : {"Maximum", "Fmax"}) table.Add(name, Binary("max"));
  for (const char* name : {"Minimum", "Fmin"}) table.Add(name, Binary("min"));
  for (const char* name : {"Pow", "PowTensorScalar", "PowScalarTensor"}) table.Add(name, Pow);
  for (const char* name : {"FloorDiv", "FloorDivScalar"}) table.Add(name, FloorDiv);
  for (const char* name :
       {"FloorMod", "RemainderTensorTensor", "RemainderTensorScalar", "RemainderScalarTensor"})
    table.Add(name, FloorMod);
  for (const char* name : {"Mod", "TruncateMod", "FmodTensor", "FmodScalar"}) table.Add(name, Binary("fmod"));
  table.Add("TruncateDiv", TruncateDiv);
  for (const char* name : {"DivMod", "DivMods"}) table.Add(name, DivMod);
}

}  // namespace

TERN_CONVERTERS(binary) {
  AddArithmetic(table);
  for (const char* name : {"BitwiseAnd", "BitwiseAndTensor", "BitwiseAndScalar"})
    table.Add(name, Binary("bit_and"));
  for (const char* name : {"BitwiseOr", "BitwiseOrTensor", "BitwiseOrScalar"})
    table.Add(name, Binary("bit_or"));
  for (const char* name : {"BitwiseXor", "BitwiseXorTensor", "BitwiseXorScalar"})
    table.Add(name, Binary("bit_xor"));
  table.Add("LogicalAnd", Logical("and"));
  table.Add("LogicalOr", Logical("or"));
  table.Add("LogicalXor", Logical("xor"));
  for (const char* name : {"Equal", "EqScalar"}) table.Add(name, Compare("equal"));
  table.Add("NotEqual", Compare("equal", true));
  for (const char* name : {"Less", "LessScalar"}) table.Add(name, Compare("less"));
  table.Add("LessEqual", Compare("less_equal"));
  table.Add("Greater", Compare("greater"));
  for (const char* name : {"GreaterEqual", "GreaterEqualScalar"}) table.Add(name, Compare("greater_equal"));
  table.Add("DivNoNan", DivNoNan);
  table.Add("MulNoNan", MulNoNan);
  table.Add("Xdivy", ZeroIfZero(false));
  for (const char* name : {"Xlogy", "XLogYScalarOther", "XLogYScalarSelf"}) table.Add(name, ZeroIfZero(true));
  table.Add("SquaredDifference", SquaredDifference);
  table.Add("Hypot", Hypot);
  table.Add("LogAddExp", LogAddExp);
  for (const char* name : {"Atan2", "Atan2Ext"}) table.Add(name, Atan2);
  table.Add("IsClose", IsClose);
  table.Add("ApproximateEqual", ApproximateEqual);
  for (const char* name : {"AddN", "AccumulateNV2"}) table.Add(name, AddN);
  for (const char* name : {"Lerp", "LerpScalar"}) table.Add(name, Lerp);
  for (const char* name : {"Addcmul", "AddcmulExt"}) table.Add(name, AddProduct("mul"));
  for (const char* name : {"Addcdiv", "AddcdivExt"}) table.Add(name, AddProduct("div"));
  for (const char* name : {"ClampScalar", "ClampTensor"}) table.Add(name, Clamp);
  for (const char* name : {"Select", "SelectV2"}) table.Add(name, Select);
  for (const char* name : {"MaskedFill", "MaskedFillScalar"}) table.Add(name, MaskedFill);
}

}  // namespace tern::mindir
