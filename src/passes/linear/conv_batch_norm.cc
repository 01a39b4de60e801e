// Folds BatchNorm into the Conv before it.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

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
            if (!NoEpilogue(m.NodeOf("c"))) return m.Skip("the node has an activation or a residual");
            return m.DTypeOf("gamma") == m.DTypeOf("w") || m.Skip("weights and scale have different types");
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
