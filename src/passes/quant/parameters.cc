#include "passes/quant/parameters.h"

#include <algorithm>
#include <cmath>

#include "ops/quant/quantized.h"
#include "passes/rewrite/facts.h"

namespace tern {
namespace {

struct IntRange {
  double low, high;
};
IntRange RangeOf(DType t) {
  const int bits = BitWidth(t);
  if (IsSignedInt(t)) return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
  return {0, std::ldexp(1, bits) - 1};
}

}  // namespace

bool SameParameter(const Value* a, const Value* b) {
  if (a == b) return true;
  return a && b && a->is_constant() && b->is_constant() && SameTensor(a->constant, b->constant);
}

bool AllZero(const Value* zero) {
  const auto v = UniformOf(zero);
  return v && *v == 0;
}

bool SameZeroPoint(const Value* a, const Value* b) {
  return SameParameter(a, b) || (!a && AllZero(b)) || (!b && AllZero(a));
}

bool OrdinaryScale(const Value* scale) {
  if (!scale->is_constant() || scale->constant.dtype() != DType::kF32) return false;
  const auto values = ToDoubles(scale->constant);
  return std::all_of(values.begin(), values.end(), [](double s) { return s >= 1e-30 && s <= 1e30; });
}

bool InSingle(const Node& quantize) {
  const DType precision = quantize.attrs.Type("precision");
  return precision == DType::kInvalid || precision == DType::kF32;
}

bool OneScale(const Node& node) {
  return node.attrs.Int("block_size") == 0 && IsSingle(node.input(1)->type.shape) &&
         (!node.input(2) || IsSingle(node.input(2)->type.shape));
}

bool Saturates(const Node& quantize, double low, double high) {
  const IntRange range = RangeOf(quantize.output(0)->type.dtype);
  const auto scales = ToDoubles(quantize.input(1)->constant);
  std::vector<double> zeros(scales.size(), 0);
  if (quantize.input(2)) zeros = ToDoubles(quantize.input(2)->constant);
  for (size_t i = 0; i < scales.size(); ++i) {
    const double zero = zeros[zeros.size() == scales.size() ? i : 0];
    const auto quantized = [&](double v) { return std::nearbyint(static_cast<float>(v / scales[i])) + zero; };
    if (quantized(low) > range.low || quantized(high) < range.high) return false;
  }
  return true;
}

const Node* PlainDequantize(const Value* v) {
  const Node* node = MadeBy(v, "Dequantize");
  if (!node || v->type.dtype != DType::kF32 || node->attrs.Int("block_size") != 0) return nullptr;
  const bool fits = (kQuantized & SetOf(node->input(0)->type.dtype)) &&
                    node->input(1)->type.dtype == DType::kF32 && node->input(1)->type.shape.ranked;
  return fits ? node : nullptr;
}

bool IsPlainQuantize(const Node& node) {
  return IsOp(node, "Quantize") && node.input(0)->type.dtype == DType::kF32 &&
         node.input(1)->type.dtype == DType::kF32 && (kQuantized & SetOf(node.output(0)->type.dtype)) &&
         OneScale(node) && InSingle(node);
}

}  // namespace tern
