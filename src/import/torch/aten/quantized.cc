// Converts the operators of quantized_decomposed, with which exported programs quantize tensors.
#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

struct Range {
  int64_t low, high;
};

Range RangeOf(DType t) {
  const int bits = BitWidth(t);
  if (IsUnsignedInt(t)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

// Scales and zero points are numbers, scalar tensors, or vectors along an axis.
Status Quantize(AtenNode& n, const char* scales, const char* zeros, bool channels) {
  Emit e(n.b);
  const DType t = n.Type("dtype");
  if (t != DType::kI8 && t != DType::kU8 && t != DType::kI16 && t != DType::kU16)
    return n.NotYet("the type ", DTypeName(t));
  Value *scale = As(n, scales, DType::kF32), *zero = As(n, zeros, t);
  if (!channels) {
    scale = e.Reshape(scale, {});
    zero = e.Reshape(zero, {});
  }
  AttrList attrs = {{"to", t}};
  if (channels) attrs.emplace_back("axis", n.Int("axis"));
  Value* y = n.b.Op("Quantize", {n.In("input"), scale, zero}, attrs);
  const Range range = RangeOf(t);
  const int64_t low = n.Int("quant_min"), high = n.Int("quant_max");
  if (low > range.low || high < range.high)
    y = n.b.Op("Clip", {y, e.Like(y, static_cast<double>(low)), e.Like(y, static_cast<double>(high))});
  n.Out(y);
  return {};
}

Status Dequantize(AtenNode& n, const char* scales, const char* zeros, bool channels) {
  Emit e(n.b);
  Value* x = n.In("input");
  Value *scale = As(n, scales, DType::kF32), *zero = n.Has(zeros) ? As(n, zeros, x->type.dtype) : nullptr;
  if (!channels) {
    scale = e.Reshape(scale, {});
    zero = zero ? e.Reshape(zero, {}) : nullptr;
  }
  AttrList attrs;
  if (channels) attrs.emplace_back("axis", n.Int("axis"));
  Value* y = n.b.Op("Dequantize", {x, scale, zero}, attrs);
  n.Out(e.Cast(y, n.Type("out_dtype", DType::kF32)));
  return {};
}

}  // namespace

TERN_CONVERTERS(quantized) {
  table.Add("quantized_decomposed::quantize_per_tensor",
            [](AtenNode& n) { return Quantize(n, "scale", "zero_point", false); });
  table.Add("quantized_decomposed::dequantize_per_tensor",
            [](AtenNode& n) { return Dequantize(n, "scale", "zero_point", false); });
  table.Add("quantized_decomposed::quantize_per_channel",
            [](AtenNode& n) { return Quantize(n, "scales", "zero_points", true); });
  table.Add("quantized_decomposed::dequantize_per_channel",
            [](AtenNode& n) { return Dequantize(n, "scales", "zero_points", true); });
}

}  // namespace tern::torch
