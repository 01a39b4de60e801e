// Quantize: converts real numbers to a quantized type by scale and zero point.
#include <algorithm>
#include <cmath>

#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/quant/quant_map.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct Quantize {
  int64_t axis = 1, block_size = 0;
  DType to = DType::kInvalid, precision = DType::kInvalid;
  bool saturate = true;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis along which scales vary");
    v("block_size", block_size,
      "number of consecutive elements along the axis that share a scale; 0 means one scale for all, or one per index of the axis");
    v("to", to, "result type; invalid means the type of zero_point, or u8 if zero_point is absent");
    v("precision", precision,
      "type to which x / scale is rounded before it is quantized; invalid means f32, or f64 if x is f64");
    v("saturate", saturate, "fp8: results out of range become the largest finite value, not infinity or NaN");
  }
};

constexpr DTypeSet kWide = SetOf(DType::kI32) | SetOf(DType::kI64) | SetOf(DType::kU32) | SetOf(DType::kU64);
constexpr DTypeSet kTargets = kNumbers & ~kRealFloats & ~kWide & ~SetOf(DType::kF8E8M0);

Status Infer(const Quantize& op, InferContext& c) {
  const DType zero = c.Has("zero_point") ? c.TypeOf("zero_point") : DType::kInvalid;
  const DType to = op.to != DType::kInvalid ? op.to : c.Has("zero_point") ? zero : DType::kU8;
  if (to != DType::kInvalid && !(kTargets & SetOf(to)))
    return InvalidModel("cannot quantize to ", DTypeName(to));
  if (zero != DType::kInvalid && zero != to)
    return InvalidModel("zero_point is ", DTypeName(zero), ", but the result is ", DTypeName(to));
  if (op.precision != DType::kInvalid && !IsFloat(op.precision))
    return InvalidModel("precision must be a float type, got ", DTypeName(op.precision));
  TERN_TRY(CheckQuantShapes(c, op.axis, op.block_size));
  c.Out("y", to, c.ShapeOf("x"));
  return {};
}

struct Range {
  double low, high;
};

Range RangeOf(DType t) {
  const int bits = BitWidth(t);
  if (IsSignedInt(t)) return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
  return {0, std::ldexp(1, bits) - 1};
}

DType DivisionType(const Quantize& op, DType x) {
  if (op.precision != DType::kInvalid) return op.precision;
  return x == DType::kF64 ? DType::kF64 : DType::kF32;
}

// Rounds v to the element type and returns the rounded value as double.
double RoundTo(DType type, double v) {
  if (type == DType::kF64) return v;
  return type == DType::kF32 ? static_cast<double>(static_cast<float>(v))
                             : static_cast<double>(DecodeFloat(type, EncodeFloat(type, v)));
}

void StoreFloat(Tensor& y, int64_t i, double v, bool saturate) {
  if (BitWidth(y.dtype()) == 8)
    y.data<uint8_t>()[i] = static_cast<uint8_t>(EncodeFloat(y.dtype(), v, saturate));
  else
    StoreDouble(y, i, v);
}

Status Reference(const Quantize& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto values = c.Doubles("x"), scale = c.Doubles("scale");
  const auto zero = c.Has("zero_point") ? c.Doubles("zero_point") : std::vector<double>(scale.size(), 0);
  const QuantMap map(x.dims(), c.In("scale").dims(), op.axis, op.block_size);
  const DType division = DivisionType(op, x.dtype());
  Tensor& y = c.Out("y", x.dims());
  const bool to_integer = IsInt(y.dtype());
  const Range range = RangeOf(y.dtype());
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t k = map(static_cast<int64_t>(i));
    const double quotient = RoundTo(division, values[i] / scale[k]);
    const double v = to_integer ? std::nearbyint(quotient) + zero[k] : quotient + zero[k];
    if (to_integer)
      StoreLong(y, static_cast<int64_t>(i),
                static_cast<int64_t>(std::isnan(v) ? zero[k] : std::clamp(v, range.low, range.high)));
    else
      StoreFloat(y, static_cast<int64_t>(i), v, op.saturate);
  }
  return {};
}

}  // namespace

TERN_OP(Quantize) {
  return OpDef::Of<Quantize>("y = saturate(round(x / scale) + zero_point), where ties round to even")
      .In("x", kRealFloats | SetOf(DType::kI32))
      .In("scale", kRealFloats | SetOf(DType::kI32) | SetOf(DType::kF8E8M0))
      .OptIn("zero_point", kTargets)
      .Out("y", kTargets)
      .Flops(PerOutput(3))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(ScaledAxes, RenameScaledAxis)
      .Half(HalfRule::kKeep)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
