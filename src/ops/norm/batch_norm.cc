// BatchNorm: normalises each channel with stored statistics.
#include <cmath>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct BatchNorm {
  float epsilon = 1e-5f;
  template <class V> void Visit(V& v) { v("epsilon", epsilon, "added to the variance"); }
};

Status Infer(const BatchNorm&, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.rank() == 0) return InvalidModel("input 'x' must have rank 1 or more");
  // If x is a vector, each element is a sample with one channel.
  const Dim channels = !x.ranked ? Dim() : x.rank() == 1 ? Dim(1) : x[1];
  for (const char* port : {"scale", "bias", "mean", "var"}) TERN_TRY(CheckVector(c, port, channels));
  c.Out("y", c.TypeOf("x"), x);
  return {};
}

Status Reference(const BatchNorm& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto scale = c.Doubles("scale"), bias = c.Doubles("bias"), mean = c.Doubles("mean"),
             variance = c.Doubles("var");
  const size_t channels = scale.size();
  const Dims& d = x.dims();
  const size_t plane = d.size() < 2 ? 1 : static_cast<size_t>(CountOf(Dims(d.begin() + 2, d.end())));
  auto y = ToDoubles(x);
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t k = i / plane % channels;
    y[i] = (y[i] - mean[k]) / std::sqrt(variance[k] + op.epsilon) * scale[k] + bias[k];
  }
  c.Out("y", d, y);
  return {};
}

}  // namespace

TERN_OP(BatchNorm) {
  return OpDef::Of<BatchNorm>("y = (x - mean) / sqrt(var + epsilon) * scale + bias, per channel (axis 1)")
      .In("x", kRealFloats)
      .In("scale", kRealFloats)
      .In("bias", kRealFloats)
      .In("mean", kRealFloats)
      .In("var", kRealFloats)
      .Out("y", kRealFloats)
      .Flops(PerOutput(2))
      .Batch(&BatchItems::FirstInput)
      .Axes(No{"channels must be axis 1"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
