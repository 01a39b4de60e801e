// GroupNorm: normalises each group of channels of each sample with its own statistics.
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/channels_last.h"
#include "ops/support/operands.h"
#include "ops/support/statistics.h"

namespace tern {
namespace {

struct GroupNorm : ChannelOrder {
  int64_t groups = 1;
  float epsilon = 1e-5f;
  template <class V> void Visit(V& v) {
    v("groups", groups, "number of channel groups");
    v("epsilon", epsilon, "added to the variance");
    VisitChannels(v);
  }
};

Status Infer(const GroupNorm& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() < 2) return InvalidModel("input 'x' must have rank 2 or more, got ", x.ToString());
  if (op.groups < 1) return InvalidModel("groups is ", op.groups, ", but must be at least 1");
  const Dim channels = x.ranked ? op.ToChannelsFirst(x)[1] : Dim();
  if (channels.known() && channels.value() % op.groups)
    return InvalidModel(op.groups, " groups do not divide the ", channels.value(), " channels");
  for (const char* port : {"scale", "bias"}) TERN_TRY(CheckVector(c, port, channels));
  c.Out("y", c.TypeOf("x"), x);
  return {};
}

Status Reference(const GroupNorm& op, EvalContext& c) {
  const Dims d = op.ToChannelsFirst(c.In("x").dims());
  const auto scale = c.Doubles("scale"), bias = c.Doubles("bias");
  const int64_t plane = CountOf(Dims(d.begin() + 2, d.end())), run = d[1] / op.groups * plane;
  auto y = op.ValuesToChannelsFirst(c.Doubles("x"), d);
  for (int64_t row = 0; row < d[0] * op.groups; ++row) NormalizeRow(y.data() + row * run, run, op.epsilon);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t k = i / static_cast<size_t>(plane) % scale.size();
    y[i] = y[i] * scale[k] + bias[k];
  }
  c.Out("y", op.ToOwnLayout(d), op.ValuesToOwnLayout(std::move(y), d));
  return {};
}

}  // namespace

TERN_OP(GroupNorm) {
  return OpDef::Of<GroupNorm>(
             "normalises each group of channels to zero mean and unit variance, then applies scale and bias per channel")
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
