// LayerNorm: normalises to zero mean and unit variance over the last axes.
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/operands.h"
#include "ops/support/statistics.h"

namespace tern {
namespace {

struct LayerNorm {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  DType stash_type = DType::kF32;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the first of the normalised axes");
    v("epsilon", epsilon, "added to the variance");
    v("stash_type", stash_type, "element type of mean and inv_std");
  }
};

Status Infer(const LayerNorm& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (!IsFloat(op.stash_type))
    return InvalidModel("stash_type must be a float type, got ", DTypeName(op.stash_type));
  c.Out("y", c.TypeOf("x"), x);
  Shape reduced = x;
  if (x.ranked) {
    TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
    for (size_t i = static_cast<size_t>(axis); i < reduced.dims.size(); ++i) reduced.dims[i] = 1;
  }
  for (const char* port : {"scale", "bias"})
    if (c.Has(port)) {
      TERN_TRY(CheckBroadcastsTo(port, c.ShapeOf(port), x));
    }
  c.Out("mean", op.stash_type, reduced);
  c.Out("inv_std", op.stash_type, std::move(reduced));
  return {};
}

Status Reference(const LayerNorm& op, EvalContext& c) {
  const Dims& d = c.In("x").dims();
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, static_cast<int>(d.size())));
  Dims reduced = d;
  for (size_t i = static_cast<size_t>(axis); i < d.size(); ++i) reduced[i] = 1;
  const int64_t n = CountOf(Dims(d.begin() + axis, d.end())), rows = CountOf(reduced);
  auto y = c.Doubles("x");
  std::vector<double> mean(static_cast<size_t>(rows)), inv_std(mean.size());
  for (int64_t r = 0; r < rows; ++r) {
    const RowStatistics s = NormalizeRow(y.data() + r * n, n, op.epsilon);
    mean[static_cast<size_t>(r)] = s.mean;
    inv_std[static_cast<size_t>(r)] = s.inv_std;
  }
  if (c.Has("scale")) {
    const auto scale = BroadcastTo(c.Doubles("scale"), c.In("scale").dims(), d);
    for (size_t i = 0; i < y.size(); ++i) y[i] *= scale[i];
  }
  if (c.Has("bias")) {
    const auto bias = BroadcastTo(c.Doubles("bias"), c.In("bias").dims(), d);
    for (size_t i = 0; i < y.size(); ++i) y[i] += bias[i];
  }
  c.Out("y", d, y);
  c.Out("mean", reduced, mean);
  c.Out("inv_std", reduced, inv_std);
  return {};
}

}  // namespace

TERN_OP(LayerNorm) {
  return OpDef::Of<LayerNorm>(
             "y = (x - mean) * inv_std * scale + bias, where mean and inv_std are over `axis` and all later axes")
      .In("x", kRealFloats)
      .OptIn("scale", kRealFloats)
      .OptIn("bias", kRealFloats)
      .Out("y", kRealFloats)
      .OptOut("mean", kRealFloats)
      .OptOut("inv_std", kRealFloats)
      .Flops(PerOutput(8))
      .Batch(&BatchItems::AlongTrailingAxes)
      .Axes(No{"the normalised axes must be the last ones"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
