// Dequantize: converts quantized numbers to real ones by scale and zero point.
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/quant/quant_map.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct Dequantize {
  int64_t axis = 1, block_size = 0;
  DType to = DType::kInvalid;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the axis along which scales vary");
    v("block_size", block_size,
      "number of consecutive elements along the axis that share a scale; 0 means one scale for all, or one per index of the axis");
    v("to", to, "result type; invalid means the type of scale, or f32 if scale is f8e8m0");
  }
};

constexpr DTypeSet kSources = kNumbers & ~kRealFloats & ~SetOf(DType::kI64) & ~SetOf(DType::kU64);

Status Infer(const Dequantize& op, InferContext& c) {
  const DType scale = c.TypeOf("scale") == DType::kF8E8M0 ? DType::kF32 : c.TypeOf("scale");
  const DType to = op.to == DType::kInvalid ? scale : op.to;
  if (to != DType::kInvalid && !(kRealFloats & SetOf(to)))
    return InvalidModel("cannot dequantize to ", DTypeName(to));
  TERN_TRY(CheckQuantShapes(c, op.axis, op.block_size));
  if (c.Has("zero_point") && c.TypeOf("zero_point") != c.TypeOf("x") && c.TypeOf("x") != DType::kInvalid &&
      c.TypeOf("zero_point") != DType::kInvalid)
    return InvalidModel("zero_point is ", DTypeName(c.TypeOf("zero_point")), ", but x is ",
                        DTypeName(c.TypeOf("x")));
  c.Out("y", to, c.ShapeOf("x"));
  return {};
}

Status Reference(const Dequantize& op, EvalContext& c) {
  const auto scale = c.Doubles("scale");
  const auto zero = c.Has("zero_point") ? c.Doubles("zero_point") : std::vector<double>(scale.size(), 0);
  const QuantMap map(c.In("x").dims(), c.In("scale").dims(), op.axis, op.block_size);
  auto y = c.Doubles("x");
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t k = map(static_cast<int64_t>(i));
    y[i] = (y[i] - zero[k]) * scale[k];
  }
  c.Out("y", c.In("x").dims(), y);
  return {};
}

}  // namespace

TERN_OP(Dequantize) {
  return OpDef::Of<Dequantize>("y = (x - zero_point) * scale")
      .In("x", kSources)
      .In("scale", kRealFloats | SetOf(DType::kF8E8M0))
      .OptIn("zero_point", kSources)
      .Out("y", kRealFloats)
      .Flops(PerOutput(2))
      .Batch(No{"splitting quantized batches has not been measured"})
      .Axes(ScaledAxes, RenameScaledAxis)
      .Half(HalfRule::kKeep)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
