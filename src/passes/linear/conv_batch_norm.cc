// BatchNorm goes into the convolution before it.
#include <cmath>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// A channel that never varies has a large factor, which f16 may not hold.
bool FactorFits(const Match& m) {
  if (m.DTypeOf("w") != DType::kF16) return true;
  const auto gamma = ToDoubles(m["gamma"]), var = ToDoubles(m["var"]);
  for (size_t i = 0; i < gamma.size() && i < var.size(); ++i)
    if (std::abs(gamma[i]) > 60000 * std::sqrt(var[i] + m.Number("eps"))) return false;
  return true;
}

Tensor ZeroesLike(const Tensor& t) { return Tensor(t.dtype(), t.dims()); }

}  // namespace

TERN_RULE(FoldBatchNormIntoConv) {
  return Rule{
      .summary = "Conv then inference BatchNorm is one Conv",
      .match = {"%c = Conv(%x, #w, #b?) {@conv}"
                "%y = BatchNorm(%c, #gamma, #beta, #mean, #var) {epsilon=@eps}"},
      .emit =
          "%k = #gamma / Sqrt(#var + @eps)"
          "%y = Conv(%x, #w * Reshape(%k, #column), (#bias - #mean) * %k + #beta) {@conv}",
      .when =
          [](const Match& m) {
            if (!IsFloat(m.DTypeOf("w"))) return m.Skip("the weights are quantized");
            if (!NoEpilogue(m.NodeOf("c"))) return m.Skip("an activation or a residual stands between");
            if (m.DTypeOf("gamma") != m.DTypeOf("w")) return m.Skip("weights and scale have different types");
            return FactorFits(m) || m.Skip("the factor of a channel is not finite");
          },
      .compute =
          [](Match& m) {
            std::vector<int64_t> column(m["w"].dims().size(), 1);
            column[0] = -1;
            m.Set("column", Tensor::Ints(column));
            m.Set("bias", m.Has("b") ? m["b"] : ZeroesLike(m["mean"]));
          },
  };
}

}  // namespace tern
