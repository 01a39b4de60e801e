// InstanceNorm: normalises each channel of each sample with its own statistics.
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/channels_last.h"
#include "ops/support/operands.h"
#include "ops/support/statistics.h"

namespace tern {
namespace {

struct InstanceNorm : ChannelOrder {
  float epsilon = 1e-5f;
  template <class V> void Visit(V& v) {
    v("epsilon", epsilon, "added to the variance");
    VisitChannels(v);
  }
};

Status Infer(const InstanceNorm& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() < 3) return InvalidModel("input 'x' must have rank 3 or more, got ", x.ToString());
  for (const char* port : {"scale", "bias"})
    TERN_TRY(CheckVector(c, port, x.ranked ? op.ToChannelsFirst(x)[1] : Dim()));
  c.Out("y", c.TypeOf("x"), x);
  return {};
}

Status Reference(const InstanceNorm& op, EvalContext& c) {
  const Dims d = op.ToChannelsFirst(c.In("x").dims());
  const auto scale = c.Doubles("scale"), bias = c.Doubles("bias");
  const int64_t plane = CountOf(Dims(d.begin() + 2, d.end()));
  auto y = op.ValuesToChannelsFirst(c.Doubles("x"), d);
  for (int64_t row = 0; row < d[0] * d[1]; ++row) {
    double* at = y.data() + row * plane;
    NormalizeRow(at, plane, op.epsilon);
    const size_t k = static_cast<size_t>(row % d[1]);
    for (int64_t i = 0; i < plane; ++i) at[i] = at[i] * scale[k] + bias[k];
  }
  c.Out("y", op.ToOwnLayout(d), op.ValuesToOwnLayout(std::move(y), d));
  return {};
}

}  // namespace

TERN_OP(InstanceNorm) {
  return OpDef::Of<InstanceNorm>(
             "normalises each channel to zero mean and unit variance over the spatial axes, then applies scale and bias per channel")
      .In("x", kRealFloats)
      .In("scale", kRealFloats)
      .In("bias", kRealFloats)
      .Out("y", kRealFloats)
      .Flops(PerOutput(8))
      .Batch(&BatchItems::FirstInput)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
