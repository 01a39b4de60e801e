#include "import/tflite/ops/hybrid.h"

#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// The scales and zero points of the rows, as vectors. For a single row they are one number.
struct ValueRange {
  Value *scale = nullptr, *zero = nullptr;  // zero is null if x is rounded symmetrically
};

// Replaces 0, the range of a row of zeros, by 1.
Value* NotZero(Builder& b, Value* scale) {
  Value* zero = Binary(b, "equal", scale, b.Scalar(DType::kF32, 0));
  return b.Op("Where", {zero, b.Scalar(DType::kF32, 1), scale});
}

ValueRange RangeOf(Builder& b, Value* x, bool one, bool asymmetric) {
  if (one && asymmetric) {
    const auto range = b.Ops("DynamicScale", {x}, {}, 2);
    return {range[0], range[1]};
  }
  std::vector<int64_t> axes;
  for (int i = one ? 0 : 1; i < x->type.shape.rank(); ++i) axes.push_back(i);
  if (!asymmetric) {
    Value* largest = Reduced(b, "max", Unary(b, "abs", x), axes, false);
    return {NotZero(b, Binary(b, "div", largest, b.Scalar(DType::kF32, 127))), nullptr};
  }
  Value* none = b.Scalar(DType::kF32, 0);
  Value* low = Binary(b, "min", Reduced(b, "min", x, axes, false), none);
  Value* high = Binary(b, "max", Reduced(b, "max", x, axes, false), none);
  Value* scale = NotZero(b, Binary(b, "div", Binary(b, "sub", high, low), b.Scalar(DType::kF32, 255)));
  Value* zero = Unary(b, "round", Binary(b, "div", Unary(b, "neg", low), scale));
  return {scale, CastTo(b, zero, DType::kU8)};
}

}  // namespace

Result<Value*> QuantizedBias(LiteNode& n, int x, int w, int bias) {
  if (!n.Has(bias)) return nullptr;
  const TensorInfo &left = n.InfoIn(x), &right = n.InfoIn(w);
  Value* stored = n.In(bias);
  if (!left.quantized || !right.quantized) return n.Real(bias);
  if (IsFloat(stored->type.dtype)) return stored;
  if (!left.quant.one_scale() || right.quant.scales.empty())
    return n.NotYet("a bias for operands with these scales");
  std::vector<double> scales;
  for (float s : right.quant.scales) scales.push_back(static_cast<double>(left.quant.scales[0] * s));
  const bool one = scales.size() == 1;
  const auto rank = stored->type.shape.rank();
  if (rank != 1) return n.Bad("the bias must be a vector, got ", stored->type.ToString());
  if (!one && !stored->type.shape[0].Is(static_cast<int64_t>(scales.size())))
    return n.Bad("the bias is ", stored->type.ToString(), ", but the weights have ", scales.size(),
                 " scales");
  const Dims dims = one ? Dims{} : Dims{static_cast<int64_t>(scales.size())};
  Value* scale = n.b.Const(Tensor::Of(DType::kF32, dims, scales));
  if (stored->type.dtype == DType::kI32) return n.b.Op("Dequantize", {stored, scale}, {{"axis", int64_t{0}}});
  return Binary(n.b, "mul", CastTo(n.b, stored, DType::kF32), scale);
}

bool IsHybrid(LiteNode& n, int x, int w) { return IsFloat(n.InfoIn(x).dtype) && n.InfoIn(w).quantized; }

Value* RoundedRows(Builder& b, Value* x, bool asymmetric) {
  const Shape& shape = x->type.shape;
  const bool one = shape.rank() == 0 || (shape.rank() > 0 && shape[0].Is(1));
  const ValueRange range = RangeOf(b, x, one, asymmetric);
  const DType to = asymmetric ? DType::kU8 : DType::kI8;
  Value* q = b.Op("Quantize", {x, range.scale, range.zero}, {{"axis", int64_t{0}}, {"to", to}});
  return b.Op("Dequantize", {q, range.scale, range.zero}, {{"axis", int64_t{0}}});
}

// LiteRT rounds x asymmetrically if the weights have one scale per channel, and for depthwise convolutions.
Result<Value*> HybridConv(LiteNode& n, Value* w, AttrList attrs) {
  const bool asymmetric = n.op() == "DEPTHWISE_CONV_2D" || n.InfoIn(1).quant.scales.size() > 1;
  Value* x = RoundedRows(n.b, n.Real(0, Layout::kFirst), asymmetric);
  return n.b.Op("Conv", {x, w, n.OptionalReal(2)}, attrs);
}

Result<Value*> HybridProduct(LiteNode& n, Value* x, int w_index, Value* bias, bool asymmetric) {
  const TensorInfo& info = n.InfoIn(w_index);
  Value* w = n.In(w_index);
  if (info.quant.block_size > 0) return n.b.Op("MatMul", {x, n.Real(w_index), bias}, {{"transpose_b", true}});
  if (asymmetric || !w->is_constant() || !info.quant.zeros.empty()) {
    Value* rounded = RoundedRows(n.b, x, asymmetric);
    return n.b.Op("MatMul", {rounded, n.RealPermuted(w_index, {0, 1}), bias}, {{"transpose_b", true}});
  }
  const Dims dims = info.quant.one_scale() ? Dims{} : Dims{static_cast<int64_t>(info.quant.scales.size())};
  Value* scale =
      n.b.Const(Tensor::Of(DType::kF32, dims, {info.quant.scales.begin(), info.quant.scales.end()}));
  return n.b.Op("MatMulNBits", {x, w, bias, nullptr, scale}, {{"transpose_b", true}, {"dynamic", true}});
}

}  // namespace tern::tflite
