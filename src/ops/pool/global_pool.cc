// GlobalPool: reduces each channel of [N, C, spatial…] to one number.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/channels_last.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

enum class GlobalPoolKind { kMax, kAverage, kLp };

struct GlobalPool : ChannelOrder {
  GlobalPoolKind kind = GlobalPoolKind::kAverage;
  float p = 2;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"max", "average", "lp"}, "the function of each channel: maximum, mean or p-norm");
    v("p", p, "the exponent of kind lp");
    VisitChannels(v);
  }
};

Status Infer(const GlobalPool& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && x.rank() < 2) return InvalidModel("input 'x' must have rank 2 or more, got ", x.ToString());
  if (op.kind == GlobalPoolKind::kLp && !(op.p > 0))
    return InvalidModel("p is ", op.p, ", but must be positive");
  Shape y = op.ToChannelsFirst(x);
  for (size_t i = 2; i < y.dims.size(); ++i) y.dims[i] = 1;
  c.Out("y", c.TypeOf("x"), op.ToOwnLayout(y));
  return {};
}

double Combine(const GlobalPool& op, const double* x, int64_t n) {
  double result = op.kind == GlobalPoolKind::kMax ? -std::numeric_limits<double>::infinity() : 0;
  for (int64_t i = 0; i < n; ++i) {
    if (op.kind == GlobalPoolKind::kMax)
      result = x[i] > result || std::isnan(x[i]) ? x[i] : result;
    else
      result += op.kind == GlobalPoolKind::kAverage ? x[i] : std::pow(std::fabs(x[i]), op.p);
  }
  if (op.kind == GlobalPoolKind::kAverage) return result / static_cast<double>(n);
  return op.kind == GlobalPoolKind::kLp ? std::pow(result, 1.0 / op.p) : result;
}

Status Reference(const GlobalPool& op, EvalContext& c) {
  const Dims dx = op.ToChannelsFirst(c.In("x").dims());
  Dims dy(dx.size(), 1);
  dy[0] = dx[0], dy[1] = dx[1];
  const auto x = op.ValuesToChannelsFirst(c.Doubles("x"), dx);
  std::vector<double> y(static_cast<size_t>(CountOf(dy)));
  const int64_t plane = CountOf(Dims(dx.begin() + 2, dx.end()));
  for (size_t i = 0; i < y.size(); ++i) y[i] = Combine(op, x.data() + static_cast<int64_t>(i) * plane, plane);
  c.Out("y", op.ToOwnLayout(dy), y);
  return {};
}

}  // namespace

TERN_OP(GlobalPool) {
  return OpDef::Of<GlobalPool>("max, mean or p-norm over all spatial axes, whose sizes become 1")
      .In("x", kRealFloats)
      .Out("y", kRealFloats)
      .Flops(PerInput(1))
      .Batch(&BatchItems::OneResult)
      .KindsAreNames("global_")
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
