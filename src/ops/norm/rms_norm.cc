// RmsNorm: divides by the root mean square over the last axes.
#include <cmath>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct RmsNorm {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  template <class V> void Visit(V& v) {
    v("axis", axis, "the first of the normalised axes");
    v("epsilon", epsilon, "added to the mean square");
  }
};

Status Infer(const RmsNorm& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked) {
    TERN_TRY(Status(NormalizeAxis(op.axis, x.rank()).status()));
  }
  if (c.Has("scale")) {
    TERN_TRY(CheckBroadcastsTo("scale", c.ShapeOf("scale"), x));
  }
  c.Out("y", c.Has("scale") ? c.TypeOf("scale") : c.TypeOf("x"), x);
  return {};
}

Status Reference(const RmsNorm& op, EvalContext& c) {
  const Dims& d = c.In("x").dims();
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, static_cast<int>(d.size())));
  const int64_t n = CountOf(Dims(d.begin() + axis, d.end())),
                rows = CountOf(Dims(d.begin(), d.begin() + axis));
  auto y = c.Doubles("x");
  for (int64_t r = 0; r < rows; ++r) {
    double* at = y.data() + r * n;
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += at[i] * at[i];
    const double root = std::sqrt(squares / static_cast<double>(n) + op.epsilon);
    for (int64_t i = 0; i < n; ++i) at[i] /= root;
  }
  if (c.Has("scale")) {
    const auto scale = BroadcastTo(c.Doubles("scale"), c.In("scale").dims(), d);
    for (size_t i = 0; i < y.size(); ++i) y[i] *= scale[i];
  }
  c.Out("y", d, y);
  return {};
}

}  // namespace

TERN_OP(RmsNorm) {
  return OpDef::Of<RmsNorm>(
             "y = x / sqrt(mean(x^2) + epsilon) * scale, where the mean is over `axis` and all later axes")
      .In("x", kRealFloats)
      .OptIn("scale", kRealFloats)
      .Out("y", kRealFloats)
      .Flops(PerOutput(4))
      .Batch(&BatchItems::AlongTrailingAxes)
      .Axes(No{"the normalised axes must be the last ones"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
