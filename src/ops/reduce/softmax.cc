// Softmax: softmax, log-softmax or hardmax along an axis.
#include <cmath>

#include "ir/axis_map.h"
#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/op_cost.h"
#include "ops/reduce/axes.h"

namespace tern {
namespace {

enum class SoftmaxKind { kSoftmax, kLogSoftmax, kHardmax };

struct Softmax {
  SoftmaxKind kind = SoftmaxKind::kSoftmax;
  int64_t axis = -1;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"softmax", "log_softmax", "hardmax"}, "the function");
    v("axis", axis, "the axis along which results sum to 1; a negative axis counts from the end");
  }
};

Status Infer(const Softmax& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked) TERN_TRY(NormalizeAxis(op.axis, x.rank()).status());
  c.Out("y", c.In("x"));
  return {};
}

void Line(SoftmaxKind kind, std::vector<double>& v) {
  size_t top = 0;
  for (size_t i = 1; i < v.size(); ++i)
    if (v[i] > v[top]) top = i;
  const double largest = v[top];
  double sum = 0;
  for (double x : v) sum += std::exp(x - largest);
  for (size_t i = 0; i < v.size(); ++i) {
    if (kind == SoftmaxKind::kHardmax)
      v[i] = i == top;
    else if (kind == SoftmaxKind::kSoftmax)
      v[i] = std::exp(v[i] - largest) / sum;
    else
      v[i] = v[i] - largest - std::log(sum);
  }
}

Status Reference(const Softmax& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(const int axis, NormalizeAxis(op.axis, x.rank()));
  Tensor& y = c.Out("y", x.dims());
  if (x.size() == 0) return {};
  const AxisView view(x.dims(), axis);
  std::vector<double> line(static_cast<size_t>(view.length));
  view.EachLine([&](int64_t first) {
    for (size_t i = 0; i < line.size(); ++i)
      line[i] = LoadDouble(x, first + static_cast<int64_t>(i) * view.inner);
    Line(op.kind, line);
    for (size_t i = 0; i < line.size(); ++i)
      StoreDouble(y, first + static_cast<int64_t>(i) * view.inner, line[i]);
  });
  return {};
}

}  // namespace

TERN_OP(Softmax) {
  return OpDef::Of<Softmax>(
             "y = exp(x) / sum(exp(x)) along axis; log_softmax: its logarithm; hardmax: 1 at the first maximum, else 0")
      .In("x", kFloats)
      .Out("y", kFloats)
      .Traits(kPure | kInPlace)
      .Flops(PerOutput(5))
      .Batch(&BatchItems::AlongOtherAxis)
      .Axes(FirstOperandAxes, RenameAxisAttr)
      .KindsAreNames()
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
