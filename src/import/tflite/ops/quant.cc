// Converts quantization.
#include <cmath>

#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Converts real numbers to integers, or between two quantizations.
Status Quantize(LiteNode& n) {
  const Layout layout = n.LayoutOf(0);
  if (!n.InfoOut(0).quantized) return n.NotYet("a result without a scale");
  n.OutReal(0, n.Real(0, layout), layout);
  return {};
}

// Converts integers, or f16, to f32.
Status Dequantize(LiteNode& n) {
  const Layout layout = n.LayoutOf(0);
  n.Out(0, CastTo(n.b, n.Real(0, layout), DType::kF32), layout);
  return {};
}

// The importer converts sparse tensors to dense ones when it reads them, so nothing remains to do.
Status DensifyOp(LiteNode& n) {
  n.Out(0, n.b.Op("Identity", {n.In(0)}));
  return {};
}

// Rounds to 2^bits levels (or one less) between min and max. Shifts min and max first, so that 0 is a level.
Status FakeQuant(LiteNode& n) {
  const auto& o = n.Options<fb::FakeQuantOptions>();
  if (o.num_bits() < 2 || o.num_bits() > 16) return n.Bad(o.num_bits(), " bits");
  if (!(o.min() < o.max())) return n.Bad("the range from ", o.min(), " to ", o.max());
  const float low = o.narrow_range() ? 1 : 0, high = static_cast<float>((1 << o.num_bits()) - 1);
  const float scale = (o.max() - o.min()) / (high - low), zero = low - o.min() / scale;
  const float nudged = zero < low ? low : zero > high ? high : std::round(zero);
  const float nudged_min = (low - nudged) * scale, nudged_max = (high - nudged) * scale;
  Builder& b = n.b;
  const auto c = [&](float v) { return b.Scalar(DType::kF32, static_cast<double>(v)); };
  Value* x = b.Op("Clip", {n.Real(0), c(nudged_min), c(nudged_max)});
  Value* steps = Binary(b, "mul", Binary(b, "sub", x, c(nudged_min)), c(1 / scale));
  Value* rounded = Unary(b, "floor", Binary(b, "add", steps, c(0.5F)));
  n.OutReal(0, Binary(b, "add", Binary(b, "mul", rounded, c(scale)), c(nudged_min)));
  return {};
}

}  // namespace

TERN_CONVERTERS(quant) {
  table.Add("QUANTIZE", 1, Quantize);
  table.Add("DEQUANTIZE", 1, Dequantize);
  table.Add("DENSIFY", 1, DensifyOp);
  table.Add("FAKE_QUANT", 1, FakeQuant);
}

}  // namespace tern::tflite
