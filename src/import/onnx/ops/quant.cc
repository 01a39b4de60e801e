// Converts quantization, and the operators that compute on quantized tensors.
#include <algorithm>

#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/window_attrs.h"
#include "import/onnx/require.h"
#include "ops/quant/quantized.h"

namespace tern::onnx {
namespace {

// Returns the type that an attribute states, or kInvalid if the attribute is 0 or absent.
Result<DType> OptionalType(const OnnxNode& n, const char* name) {
  if (n.Int(name) == 0) return DType::kInvalid;
  return n.DTypeAttr(name, DType::kInvalid);
}

Status QuantizeLinear(OnnxNode& n) {
  TERN_ASSIGN(const DType to, OptionalType(n, "output_dtype"));
  TERN_ASSIGN(const DType precision, OptionalType(n, "precision"));
  n.Out(0, n.b.Op("Quantize", {n.In(0), n.In(1), n.In(2)},
                  {{"axis", n.Int("axis", 1)},
                   {"block_size", n.Int("block_size")},
                   {"to", to},
                   {"precision", precision},
                   {"saturate", n.Int("saturate", 1) != 0}}));
  return {};
}

Status DequantizeLinear(OnnxNode& n) {
  TERN_ASSIGN(const DType to, OptionalType(n, "output_dtype"));
  n.Out(0, n.b.Op("Dequantize", {n.In(0), n.In(1), n.In(2)},
                  {{"axis", n.Int("axis", 1)}, {"block_size", n.Int("block_size")}, {"to", to}}));
  return {};
}

Status DynamicQuantizeLinear(OnnxNode& n) {
  TERN_TRY(Require(n, 0, SetOf(DType::kF32)));
  const auto range = n.b.Ops("DynamicScale", {n.In(0)}, {}, 2);
  n.Out({n.b.Op("Quantize", {n.In(0), range[0], range[1]}), range[0], range[1]});
  return {};
}

bool AllZero(const Value* v) {
  if (!v || !v->is_constant()) return !v;
  const auto values = ToDoubles(v->constant);
  return std::all_of(values.begin(), values.end(), [](double x) { return x == 0; });
}

Value* WithAxes(OnnxNode& n, Value* v, std::vector<int64_t> axes) {
  return n.b.Op("Unsqueeze", {v, n.b.Ints(axes)});
}

// Emits x - zero in i32, or in f32 if x is fp8. Omits the subtraction if `zero` is absent or known to be 0.
Value* Shifted(OnnxNode& n, Value* x, Value* zero) {
  const DType wide = IsFloat(x->type.dtype) ? DType::kF32 : DType::kI32;
  if (AllZero(zero)) return IsFloat(x->type.dtype) ? CastTo(n, x, wide) : x;
  return Binary(n, "sub", CastTo(n, x, wide), CastTo(n, zero, wide));
}

// `v` is the scale or zero point of an operand of this rank. If v is a vector with one element per row, emits
// it as a column. Otherwise returns v.
Value* PerRow(OnnxNode& n, Value* v, int rank) {
  const Shape& s = v ? v->type.shape : Shape();
  return v && s.rank() == 1 && !s[0].Is(1) && rank != 1 ? WithAxes(n, v, {1}) : v;
}

Status MatMulInteger(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  Value* a = Shifted(n, n.In(0), PerRow(n, n.In(2), n.RankOf(0)));
  n.Out(0, n.b.Op("MatMul", {a, Shifted(n, n.In(1), n.In(3))}));
  return {};
}

bool Single(const Value* v) { return !v || IsSingle(v->type.shape); }

// Returns whether QMatMul or QConv supports inputs 0 to 7: x, w and the result, each with a scale and a zero
// point. The data must have 8 bits, and the scales must be f32. x and the result must have one scale each. w
// may have one scale or a vector of scales, and must have as many zero points as scales.
bool TakenByQuantizedOp(const OnnxNode& n) {
  const DTypeSet bytes = SetOf(DType::kI8) | SetOf(DType::kU8);
  for (int i : {0, 2, 3, 5, 7})
    if (!(bytes & SetOf(n.TypeOf(i)))) return false;
  for (int i : {1, 4, 6})
    if (n.TypeOf(i) != DType::kF32) return false;
  for (int i : {1, 2, 6, 7})
    if (!Single(n.In(i))) return false;
  if (Single(n.In(4))) return Single(n.In(5));
  const Shape &scale = n.In(4)->type.shape, &zero = n.In(5)->type.shape;
  return scale.rank() == 1 && zero.rank() == 1 && scale[0].known() && scale[0] == zero[0];
}

std::vector<Value*> FirstInputs(const OnnxNode& n, int count) {
  std::vector<Value*> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(n.In(i));
  return inputs;
}

Status QLinearMatMul(OnnxNode& n) {
  for (int i = 0; i < 8; ++i) TERN_TRY(Require(n, i));
  if (TakenByQuantizedOp(n) && (Single(n.In(4)) || n.RankOf(3) > 1)) {
    n.Out(0, n.b.Op("QMatMul", FirstInputs(n, 8)));
    return {};
  }
  Value* a = Shifted(n, n.In(0), PerRow(n, n.In(2), n.RankOf(0)));
  Value* product = n.b.Op("MatMul", {a, Shifted(n, n.In(3), n.In(5))});
  const auto f32 = [&](Value* v) { return CastTo(n, v, DType::kF32); };
  Value* scale = Binary(n, "mul", PerRow(n, f32(n.In(1)), n.RankOf(0)), f32(n.In(4)));
  Value* real = Binary(n, "mul", f32(product), scale);
  n.Out(0, n.b.Op("Quantize", {real, f32(n.In(6)), n.In(7)}));
  return {};
}

// Reshapes v [M], which has one element per output channel, to [M, 1, …] with `rank` dims. If v has a single
// element, returns v.
Result<Value*> PerOutputChannel(OnnxNode& n, Value* v, int rank) {
  if (!v || v->type.shape.rank() == 0 || (v->type.shape.rank() == 1 && v->type.shape[0].Is(1))) return v;
  if (rank < 1) return n.NotYet("scales or zero points per channel need an input or a weight of known rank");
  std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
  dims[0] = -1;
  return n.b.Op("Reshape", {v, n.b.Ints(dims)});
}

// Returns the rank of the input x, which is also the rank of the weight w. Derives it from x, w or attribute
// kernel_shape, whichever is known. Returns -1 if none is known.
int ConvRank(const OnnxNode& n, int x, int w) {
  return std::max({n.RankOf(x), n.RankOf(w),
                   n.HasAttr("kernel_shape") ? static_cast<int>(n.Ints("kernel_shape").size()) + 2 : -1});
}

Result<Value*> IntegerConv(OnnxNode& n, Value* x, Value* x_zero, Value* w, Value* w_zero, Value* bias,
                           int rank) {
  TERN_ASSIGN(Value * zero, PerOutputChannel(n, w_zero, rank));
  TERN_ASSIGN(auto kernel, KernelOf(n, w->type.shape));
  TERN_ASSIGN(AttrList attrs, WindowAttrs(n, x->type.shape, kernel));
  attrs.emplace_back("group", n.Int("group", 1));
  return n.b.Op("Conv", {Shifted(n, x, x_zero), Shifted(n, w, zero), bias}, attrs);
}

Status ConvInteger(OnnxNode& n) {
  for (int i : {0, 1}) TERN_TRY(Require(n, i));
  TERN_ASSIGN(Value * y, IntegerConv(n, n.In(0), n.In(2), n.In(1), n.In(3), nullptr, ConvRank(n, 0, 1)));
  n.Out(0, y);
  return {};
}

Status QLinearConv(OnnxNode& n) {
  for (int i = 0; i < 8; ++i) TERN_TRY(Require(n, i));
  if (TakenByQuantizedOp(n)) {
    TERN_ASSIGN(auto kernel, KernelOf(n, n.In(3)->type.shape));
    TERN_ASSIGN(AttrList attrs, WindowAttrs(n, n.In(0)->type.shape, kernel));
    attrs.emplace_back("group", n.Int("group", 1));
    n.Out(0, n.b.Op("QConv", FirstInputs(n, 9), attrs));
    return {};
  }
  const int rank = ConvRank(n, 0, 3);
  TERN_ASSIGN(Value * sum, IntegerConv(n, n.In(0), n.In(2), n.In(3), n.In(5), n.In(8), rank));
  // The scales are [M, 1, …] with rank - 1 dims, so that they broadcast to the result [N, M, spatial…].
  TERN_ASSIGN(Value * w_scale, PerOutputChannel(n, n.In(4), rank - 1));
  Value* real = Binary(n, "mul", CastTo(n, sum, DType::kF32), Binary(n, "mul", n.In(1), w_scale));
  n.Out(0, n.b.Op("Quantize", {real, n.In(6), n.In(7)}));
  return {};
}

}  // namespace

TERN_CONVERTERS(quant) {
  table.Add("QuantizeLinear", QuantizeLinear);
  table.Add("DequantizeLinear", DequantizeLinear);
  table.Add("DynamicQuantizeLinear", DynamicQuantizeLinear);
  table.Add("MatMulInteger", MatMulInteger);
  table.Add("QLinearMatMul", QLinearMatMul);
  table.Add("ConvInteger", ConvInteger);
  table.Add("QLinearConv", QLinearConv);
}

}  // namespace tern::onnx
