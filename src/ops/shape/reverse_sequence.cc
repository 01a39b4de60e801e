// ReverseSequence: reverses each sequence of a batch up to its length.
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct ReverseSequence {
  int64_t time_axis = 0;
  int64_t batch_axis = 1;
  template <class V> void Visit(V& v) {
    v("time_axis", time_axis, "the axis that is reversed, 0 or 1");
    v("batch_axis", batch_axis, "the axis of the samples: 1 if time_axis is 0, else 0");
  }
};

Status Infer(const ReverseSequence& op, InferContext& c) {
  const Shape &x = c.ShapeOf("x"), &lengths = c.ShapeOf("lengths");
  if (op.time_axis + op.batch_axis != 1 || op.time_axis * op.batch_axis != 0)
    return InvalidModel("time_axis and batch_axis must be 0 and 1, got ", op.time_axis, " and ",
                        op.batch_axis);
  if (x.ranked && x.rank() < 2) return InvalidModel("x must have rank 2 or more, got ", c.In("x").ToString());
  if (lengths.ranked && lengths.rank() != 1)
    return InvalidModel("lengths must have rank 1, got rank ", lengths.rank());
  if (x.ranked && lengths.ranked) {
    const Dim& batch = x[static_cast<int>(op.batch_axis)];
    if (batch.known() && lengths[0].known() && batch != lengths[0])
      return InvalidModel(lengths[0].value(), " lengths for a batch of ", batch.value());
  }
  c.Out("y", c.In("x"));
  return {};
}

Status Reference(const ReverseSequence& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto lengths = c.Longs("lengths");
  const int64_t batch = x.dim(static_cast<int>(op.batch_axis)), time = x.dim(static_cast<int>(op.time_axis));
  const int64_t inner = CountBetween(x.dims(), 2, x.rank());
  const int64_t batch_step = op.batch_axis == 0 ? time * inner : inner,
                time_step = op.time_axis == 0 ? batch * inner : inner;
  Tensor y = x.Clone();
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    if (length < 0 || length > time)
      return InvalidArgument("lengths[", b, "]=", length, " is outside [0, ", time, "]");
    for (int64_t t = 0; t < length; ++t)
      CopyRun(x, b * batch_step + (length - 1 - t) * time_step, y, b * batch_step + t * time_step, inner);
  }
  c.SetOut("y", std::move(y));
  return {};
}

}  // namespace

TERN_OP(ReverseSequence) {
  return OpDef::Of<ReverseSequence>("x with the first lengths[b] steps of sample b in reverse order")
      .In("x", kAnyType)
      .Setting("lengths", kIndices)
      .Out("y", kAnyType)
      .Moves({}, No{"the order of elements changes"})
      .Batch(No{"the batch axis is an attribute"})
      .Axes(kNoKernel)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
