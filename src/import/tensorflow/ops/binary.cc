// Converts functions of two or three tensors that broadcast against each other. Also converts AddN.
#include <algorithm>
#include <cmath>

#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

Status NeitherComplex(TfNode& n) {
  for (int i = 0; i < n.InputCount(); ++i)
    if (n.At(i).complex) return n.NotYet("complex numbers");
  return {};
}

Converter Map(Value* (*function)(TfNode& n, Value* x, Value* y)) {
  return [function](TfNode& n) -> Status {
    TERN_TRY(NeitherComplex(n));
    return MapInputs(n, [&](Value* x, Value* y) { return function(n, x, y); });
  };
}

Converter BinaryOf(const char* kind) {
  return [kind](TfNode& n) -> Status {
    TERN_TRY(NeitherComplex(n));
    return MapInputs(n, [&](Value* x, Value* y) { return n.Binary(kind, x, y); });
  };
}

Value* Zero(TfNode& n, Value* x) { return n.Like(x, 0); }
Value* Where(TfNode& n, Value* condition, Value* a, Value* b) { return n.Op("Where", {condition, a, b}); }

// Returns whether all elements are known to be at least 0, as dims of shapes are.
bool NonNegative(const Value* v) {
  if (v->content)
    return std::all_of(v->content->begin(), v->content->end(), [](const Dim& d) { return d.NonNegative(); });
  if (IsUnsignedInt(v->type.dtype)) return true;
  if (!v->is_constant() || !IsInt(v->type.dtype) || v->constant.size() > 1024) return false;
  const auto values = ToLongs(v->constant);
  return std::all_of(values.begin(), values.end(), [](int64_t x) { return x >= 0; });
}

// Tern's division of integers truncates. x - mod(x, y) is a multiple of y, because mod has the sign of y.
Value* FloorDiv(TfNode& n, Value* x, Value* y) {
  if (!IsInt(x->type.dtype)) return n.Unary("floor", n.Binary("div", x, y));
  if (NonNegative(x) && NonNegative(y)) return n.Binary("div", x, y);
  return n.Binary("div", n.Binary("sub", x, n.Binary("mod", x, y)), y);
}

Value* TruncateDiv(TfNode& n, Value* x, Value* y) {
  Value* q = n.Binary("div", x, y);
  if (IsInt(x->type.dtype)) return q;
  return n.Binary("mul", n.Unary("sign", q), n.Unary("floor", n.Unary("abs", q)));
}

Value* NotEqual(TfNode& n, Value* x, Value* y) { return n.Unary("not", n.Binary("equal", x, y)); }
Value* SquaredDifference(TfNode& n, Value* x, Value* y) {
  Value* d = n.Binary("sub", x, y);
  return n.Binary("mul", d, d);
}
Value* DivNoNan(TfNode& n, Value* x, Value* y) {
  return Where(n, n.Binary("equal", y, Zero(n, y)), Zero(n, x), n.Binary("div", x, y));
}
Value* MulNoNan(TfNode& n, Value* x, Value* y) {
  return Where(n, n.Binary("equal", y, Zero(n, y)), Zero(n, x), n.Binary("mul", x, y));
}
Value* Xdivy(TfNode& n, Value* x, Value* y) {
  return Where(n, n.Binary("equal", x, Zero(n, x)), Zero(n, x), n.Binary("div", x, y));
}
Value* Xlogy(TfNode& n, Value* x, Value* y) {
  return Where(n, n.Binary("equal", x, Zero(n, x)), Zero(n, x), n.Binary("mul", x, n.Unary("log", y)));
}
Value* Xlog1py(TfNode& n, Value* x, Value* y) {
  Value* log = n.Unary("log", n.Binary("add", y, n.Like(y, 1)));
  return Where(n, n.Binary("equal", x, Zero(n, x)), Zero(n, x), n.Binary("mul", x, log));
}

// atan(y / x) plus a multiple of pi that depends on the quadrant.
Value* Atan2(TfNode& n, Value* y, Value* x) {
  Value *zero = Zero(n, x), *negative_y = n.Binary("less", y, zero);
  Value* half = Where(n, negative_y, n.Like(x, -M_PI / 2), n.Like(x, M_PI / 2));
  Value* on_axis = Where(n, n.Binary("equal", y, zero), zero, half);
  Value* turn = Where(n, negative_y, n.Like(x, -M_PI), n.Like(x, M_PI));
  Value* angle = n.Unary("atan", n.Binary("div", y, x));
  Value* off_axis = n.Binary("add", angle, Where(n, n.Binary("less", x, zero), turn, zero));
  return Where(n, n.Binary("equal", x, zero), on_axis, off_axis);
}

Value* ApproximateEqual(TfNode& n, Value* x, Value* y) {
  return n.Binary("less", n.Unary("abs", n.Binary("sub", x, y)), n.Like(x, n.Float("tolerance")));
}

Value* Plus(TfNode& n, Value* x, Value* y) {
  return x->type.dtype == DType::kString ? n.Op("StringConcat", {x, y}) : n.Binary("add", x, y);
}

// Adds or subtracts complex numbers part by part. Broadcasting aligns the last axes, which are the parts.
Converter AddLike(Value* (*function)(TfNode&, Value*, Value*)) {
  return [function](TfNode& n) -> Status {
    if (!n.IsComplex(0) && !n.IsComplex(1))
      return MapInputs(n, [&](Value* x, Value* y) { return function(n, x, y); });
    n.Out(0, Edge::Complex(function(n, n.In(0), n.In(1))));
    return {};
  };
}

Value* Part(TfNode& n, Value* x, int64_t i) { return n.Slice(x, -1, i, i + 1); }

Status Mul(TfNode& n) {
  if (!n.IsComplex(0)) return MapInputs(n, [&](Value* x, Value* y) { return n.Binary("mul", x, y); });
  Value *a = Part(n, n.In(0), 0), *b = Part(n, n.In(0), 1), *c = Part(n, n.In(1), 0),
        *d = Part(n, n.In(1), 1);
  Value* re = n.Binary("sub", n.Binary("mul", a, c), n.Binary("mul", b, d));
  Value* im = n.Binary("add", n.Binary("mul", a, d), n.Binary("mul", b, c));
  n.Out(0, Edge::Complex(n.Concat({re, im}, -1)));
  return {};
}

Status Divide(TfNode& n) {
  if (!n.IsComplex(0)) return MapInputs(n, [&](Value* x, Value* y) { return n.Binary("div", x, y); });
  Value *a = Part(n, n.In(0), 0), *b = Part(n, n.In(0), 1), *c = Part(n, n.In(1), 0),
        *d = Part(n, n.In(1), 1);
  Value* square = n.Binary("add", n.Binary("mul", c, c), n.Binary("mul", d, d));
  Value* re = n.Binary("add", n.Binary("mul", a, c), n.Binary("mul", b, d));
  Value* im = n.Binary("sub", n.Binary("mul", b, c), n.Binary("mul", a, d));
  n.Out(0, Edge::Complex(n.Binary("div", n.Concat({re, im}, -1), square)));
  return {};
}

Status AddN(TfNode& n) {
  TERN_TRY(NeitherComplex(n));
  if (n.InputCount() == 2) return MapInputs(n, [&](Value* x, Value* y) { return n.Binary("add", x, y); });
  n.Out(0, n.InputCount() == 1 ? n.In(0) : n.Op("Eltwise", n.Ins(0, -1), {{"kind", "sum"}}));
  return {};
}

// The condition of Select may be a vector, which then selects rows.
Status Select(TfNode& n) {
  Value* condition = n.In(0);
  TERN_ASSIGN(const int rank, n.RankOf(1));
  TERN_ASSIGN(const int own, n.RankOf(condition));
  if (own == 1 && rank > 1) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < rank; ++i) axes.push_back(i);
    condition = n.Unsqueeze(condition, axes);
  }
  n.Out(0, Where(n, condition, n.In(1), n.In(2)));
  return {};
}

Status SelectV2(TfNode& n) {
  TERN_TRY(NeitherComplex(n));
  return MapInputs3(n, [&](Value* condition, Value* x, Value* y) { return Where(n, condition, x, y); });
}

Status ClipByValue(TfNode& n) {
  TERN_TRY(NeitherComplex(n));
  return MapInputs3(n, [&](Value* x, Value* low, Value* high) {
    if (low->type.shape.rank() == 0 && high->type.shape.rank() == 0) return n.Op("Clip", {x, low, high});
    return n.Binary("min", n.Binary("max", x, low), high);
  });
}

// Shifts signed integers as unsigned ones, because ONNX defines BitShift only for unsigned integers, and the
// exporter writes shifts as BitShift. Tern itself can shift signed integers.
Status Shift(TfNode& n, const char* kind) {
  const DType own = n.TypeOf(0);
  if (IsUnsignedInt(own) || std::string_view(kind) == "shift_left") {
    if (IsUnsignedInt(own)) return MapInputs(n, [&](Value* x, Value* y) { return n.Binary(kind, x, y); });
    const DType to = own == DType::kI8    ? DType::kU8
                     : own == DType::kI16 ? DType::kU16
                     : own == DType::kI32 ? DType::kU32
                                          : DType::kU64;
    n.Out(0, n.Cast(n.Binary(kind, n.Cast(n.In(0), to), n.Cast(n.In(1), to)), own));
    return {};
  }
  // An arithmetic right shift of a negative x is -1 - ((-1 - x) shifted as an unsigned integer).
  const DType to = own == DType::kI8    ? DType::kU8
                   : own == DType::kI16 ? DType::kU16
                   : own == DType::kI32 ? DType::kU32
                                        : DType::kU64;
  Value *x = n.In(0), *negative = n.Binary("less", x, Zero(n, x));
  Value* flipped = Where(n, negative, n.Unary("bitwise_not", x), x);
  Value* shifted = n.Cast(n.Binary(kind, n.Cast(flipped, to), n.Cast(n.In(1), to)), own);
  n.Out(0, Where(n, negative, n.Unary("bitwise_not", shifted), shifted));
  return {};
}

}  // namespace

TERN_CONVERTERS(binary) {
  static constexpr std::pair<const char*, const char*> kKinds[] = {{"Maximum", "max"},
                                                                   {"Minimum", "min"},
                                                                   {"Pow", "pow"},
                                                                   {"FloorMod", "mod"},
                                                                   {"Mod", "fmod"},
                                                                   {"TruncateMod", "fmod"},
                                                                   {"Equal", "equal"},
                                                                   {"Less", "less"},
                                                                   {"LessEqual", "less_equal"},
                                                                   {"Greater", "greater"},
                                                                   {"GreaterEqual", "greater_equal"},
                                                                   {"LogicalAnd", "and"},
                                                                   {"LogicalOr", "or"},
                                                                   {"BitwiseAnd", "bit_and"},
                                                                   {"BitwiseOr", "bit_or"},
                                                                   {"BitwiseXor", "bit_xor"}};
  for (const auto& [op, kind] : kKinds) table.Add(op, BinaryOf(kind));
  for (const char* op : {"Add", "AddV2"}) table.Add(op, AddLike(Plus));
  table.Add("Sub", AddLike([](TfNode& n, Value* x, Value* y) { return n.Binary("sub", x, y); }));
  table.Add("Mul", Mul);
  for (const char* op : {"RealDiv", "Div"}) table.Add(op, Divide);
  table.Add("FloorDiv", Map(FloorDiv));
  table.Add("TruncateDiv", Map(TruncateDiv));
  table.Add("NotEqual", Map(NotEqual));
  table.Add("SquaredDifference", Map(SquaredDifference));
  table.Add("DivNoNan", Map(DivNoNan));
  table.Add("MulNoNan", Map(MulNoNan));
  table.Add("Xdivy", Map(Xdivy));
  table.Add("Xlogy", Map(Xlogy));
  table.Add("Xlog1py", Map(Xlog1py));
  table.Add("Atan2", Map(Atan2));
  table.Add("ApproximateEqual", Map(ApproximateEqual));
  for (const char* op : {"AddN", "AccumulateNV2"}) table.Add(op, AddN);
  table.Add("Select", Select);
  table.Add("SelectV2", SelectV2);
  table.Add("ClipByValue", ClipByValue);
  table.Add("LeftShift", [](TfNode& n) { return Shift(n, "shift_left"); });
  table.Add("RightShift", [](TfNode& n) { return Shift(n, "shift_right"); });
}

}  // namespace tern::tensorflow
