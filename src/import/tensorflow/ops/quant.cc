// Converts operators that quantize or simulate quantization.
#include <algorithm>
#include <cmath>

#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

// The range [min, max], shifted so that 0 is one of the levels. The values are scalars, or have one element
// per channel.
struct QuantRange {
  Value *min, *max, *scale;
};

QuantRange Nudge(TfNode& n, Value* min, Value* max, double low, double high) {
  const auto number = [&](double v) { return n.b.Scalar(DType::kF32, v); };
  Value* scale = n.Binary("div", n.Binary("sub", max, min), number(high - low));
  Value* zero = n.Binary("sub", number(low), n.Binary("div", min, scale));
  // Rounds ties up. TensorFlow rounds ties away from zero. The two differ for negative values only, which are
  // clamped to `low` afterwards.
  Value* rounded = n.Unary("floor", n.Binary("add", zero, number(0.5)));
  rounded = n.Binary("min", n.Binary("max", rounded, number(low)), number(high));
  return {n.Binary("mul", n.Binary("sub", number(low), rounded), scale),
          n.Binary("mul", n.Binary("sub", number(high), rounded), scale), scale};
}

Value* FakeQuant(TfNode& n, Value* x, const QuantRange& r) {
  Value* clipped = n.Binary("min", n.Binary("max", x, r.min), r.max);
  Value* steps = n.Binary("div", n.Binary("sub", clipped, r.min), r.scale);
  Value* rounded = n.Unary("floor", n.Binary("add", steps, n.b.Scalar(DType::kF32, 0.5)));
  return n.Binary("add", n.Binary("mul", rounded, r.scale), r.min);
}

Status CheckBits(TfNode& n) {
  const int64_t bits = n.Int("num_bits");
  return bits >= 2 && bits <= 16 ? Status() : n.Bad("num_bits is ", bits);
}

Status FakeQuantWith(TfNode& n, Value* min, Value* max) {
  TERN_TRY(CheckBits(n));
  const double low = n.Bool("narrow_range") ? 1 : 0,
               high = std::ldexp(1.0, static_cast<int>(n.Int("num_bits"))) - 1;
  const QuantRange range = Nudge(n, min, max, low, high);
  if (min->type.shape.rank() != 0) {
    n.Out(0, FakeQuant(n, n.In(0), range));
    return {};
  }
  return MapInput(n, [&](Value* x) { return FakeQuant(n, x, range); });
}

Status FakeQuantArgs(TfNode& n) {
  return FakeQuantWith(n, n.b.Scalar(DType::kF32, n.Float("min")), n.b.Scalar(DType::kF32, n.Float("max")));
}

// Rounds to the levels of a quantization without zero point. The levels are signed or unsigned integers times
// the scale.
Status QuantizeAndDequantize(TfNode& n) {
  const bool is_signed = n.Bool("signed_input"), given = n.Bool("range_given");
  const bool narrow = n.HasAttr("narrow_range") && n.Bool("narrow_range");
  if (n.HasAttr("axis") && n.Int("axis") != -1) return n.NotYet("a range per channel");
  int64_t bits = n.HasAttr("num_bits") ? n.Int("num_bits") : 0;
  if (n.op() == "QuantizeAndDequantizeV3") {
    TERN_ASSIGN(bits, n.Long(3, "num_bits"));
  }
  if (bits < 2 || bits > 24) return n.Bad("num_bits is ", bits);
  Value* x = n.In(0);
  const DType dtype = x->type.dtype;
  Value* min = given ? n.Cast(n.In(1), dtype) : n.Op("Reduce", {x}, {{"kind", "min"}, {"keep_dims", false}});
  Value* max = given ? n.Cast(n.In(2), dtype) : n.Op("Reduce", {x}, {{"kind", "max"}, {"keep_dims", false}});
  const double top = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits)) - 1;
  const double bottom = is_signed ? (narrow ? -top : -top - 1) : (narrow ? 1 : 0);
  Value *zero = n.Like(x, 0), *huge = n.Like(x, 3.0e38);
  // Computes the scale from each side of the range, and uses the smaller one, which covers both sides. A side
  // that has no values does not count.
  Value* product_min = n.Binary("mul", n.Like(x, bottom), min);
  Value* from_min =
      n.Op("Where", {n.Binary("greater", product_min, zero), n.Binary("div", n.Like(x, bottom), min), huge});
  Value* product_max = n.Binary("mul", n.Like(x, top), max);
  Value* from_max =
      n.Op("Where", {n.Binary("greater", product_max, zero), n.Binary("div", n.Like(x, top), max), huge});
  Value* scale = n.Binary("min", from_min, from_max);
  Value* inverse = n.Unary("reciprocal", scale);
  Value* low = n.Binary("mul", n.Like(x, bottom), inverse);
  Value* high = n.Binary("mul", n.Like(x, top), inverse);
  Value* clipped = n.Binary("max", n.Binary("min", x, high), low);
  const std::string mode = n.HasAttr("round_mode") ? n.Text("round_mode") : "HALF_TO_EVEN";
  Value* steps = n.Binary("mul", clipped, scale);
  Value* rounded =
      mode == "HALF_UP" ? n.Unary("floor", n.Binary("add", steps, n.Like(x, 0.5))) : n.Unary("round", steps);
  n.Out(0, n.Binary("mul", rounded, inverse));
  return {};
}

// Returns the smallest and the largest level of a quantized type.
Result<std::pair<double, double>> Levels(TfNode& n, DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return std::pair<double, double>{0, 255};
    case DType::kI8:
      return std::pair<double, double>{-128, 127};
    case DType::kU16:
      return std::pair<double, double>{0, 65535};
    case DType::kI16:
      return std::pair<double, double>{-32768, 32767};
    default:
      return n.NotYet("the type ", DTypeName(dtype));
  }
}

Status Dequantize(TfNode& n) {
  if (n.Int("axis") != -1) return n.NotYet("a range per channel");
  TERN_ASSIGN(const auto levels, Levels(n, n.TypeOf(0)));
  TERN_ASSIGN(const DType to, n.DTypeAttr("dtype"));
  const std::string mode = n.Text("mode");
  Value *x = n.Cast(n.In(0), DType::kF32), *min = n.In(1), *max = n.In(2);
  const auto number = [&](double v) { return n.b.Scalar(DType::kF32, v); };
  if (mode == "SCALED") {
    Value* low = levels.first < 0
                     ? n.Binary("div", min, number(n.Bool("narrow_range") ? levels.first + 1 : levels.first))
                     : number(0);
    Value* scale = n.Binary("max", low, n.Binary("div", max, number(levels.second)));
    n.Out(0, n.Cast(n.Binary("mul", x, scale), to));
    return {};
  }
  Value* scale = n.Binary("div", n.Binary("sub", max, min), number(levels.second - levels.first));
  if (mode == "MIN_COMBINED") {
    n.Out(0,
          n.Cast(n.Binary("add", n.Binary("mul", n.Binary("sub", x, number(levels.first)), scale), min), to));
    return {};
  }
  if (mode != "MIN_FIRST") return n.Bad("mode '", mode, "'");
  // The minimum is moved to a multiple of the scale.
  Value* start = n.Binary("mul", n.Unary("round", n.Binary("div", min, scale)), scale);
  n.Out(0,
        n.Cast(n.Binary("add", n.Binary("mul", n.Binary("sub", x, number(levels.first)), scale), start), to));
  return {};
}

}  // namespace

TERN_CONVERTERS(quant) {
  table.Add("FakeQuantWithMinMaxArgs", FakeQuantArgs);
  for (const char* op : {"FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel"})
    table.Add(op, [](TfNode& n) { return FakeQuantWith(n, n.In(1), n.In(2)); });
  for (const char* op : {"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"})
    table.Add(op, QuantizeAndDequantize);
  table.Add("Dequantize", Dequantize);
}

}  // namespace tern::tensorflow
