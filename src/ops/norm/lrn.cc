// Lrn: local response normalisation across neighbouring channels.
#include <algorithm>
#include <cmath>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ir/op_cost.h"
#include "ops/support/channels_last.h"
#include "ops/support/operands.h"

namespace tern {
namespace {

struct Lrn : ChannelOrder {
  int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  template <class V> void Visit(V& v) {
    v("size", size, "number of channels whose squares are summed");
    v("alpha", alpha, "factor of the mean square");
    v("beta", beta, "the exponent");
    v("bias", bias, "added before the exponent is applied");
    VisitChannels(v);
  }
};

Status Infer(const Lrn& op, InferContext& c) {
  const Shape& x = c.ShapeOf("x");
  if (op.size < 1) return InvalidModel("size is ", op.size, ", but must be at least 1");
  if (x.ranked && x.rank() < 2) return InvalidModel("input 'x' must have rank 2 or more, got ", x.ToString());
  c.Out("y", c.TypeOf("x"), x);
  return {};
}

Status Reference(const Lrn& op, EvalContext& c) {
  const Dims d = op.ToChannelsFirst(c.In("x").dims());
  const auto x = op.ValuesToChannelsFirst(c.Doubles("x"), d);
  std::vector<double> y(x.size());
  const int64_t channels = d[1], plane = CountOf(Dims(d.begin() + 2, d.end()));
  const int64_t before = (op.size - 1) / 2, after = op.size - 1 - before;
  for (int64_t n = 0; n < d[0]; ++n)
    for (int64_t k = 0; k < channels; ++k)
      for (int64_t i = 0; i < plane; ++i) {
        double squares = 0;
        const int64_t last = after >= channels - k ? channels - 1 : k + after;
        for (int64_t j = std::max<int64_t>(0, k - before); j <= last; ++j) {
          const double v = x[static_cast<size_t>((n * channels + j) * plane + i)];
          squares += v * v;
        }
        const size_t at = static_cast<size_t>((n * channels + k) * plane + i);
        y[at] = x[at] / std::pow(op.bias + op.alpha / static_cast<double>(op.size) * squares,
                                 static_cast<double>(op.beta));
      }
  c.Out("y", op.ToOwnLayout(d), op.ValuesToOwnLayout(std::move(y), d));
  return {};
}

}  // namespace

TERN_OP(Lrn) {
  return OpDef::Of<Lrn>(
             "y = x / (bias + alpha / size * sum of squares over `size` neighbouring channels) ^ beta")
      .In("x", kRealFloats)
      .Out("y", kRealFloats)
      .Flops(PerOutput(5))
      .Batch(&BatchItems::FirstInput)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
