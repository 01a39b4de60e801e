// Recomposes activations of the form x * f(x), and their parts.
#include <cmath>

#include "passes/recompose/conditions.h"
#include "passes/rewrite/rule.h"

namespace tern {

TERN_RULE(RecomposeSwish) {
  return Rule{.summary = "x * sigmoid(x) is Swish, also called SiLU",
              .level = Level::kExtended,
              .match = {"%y = %x * Sigmoid(%x)", "%y = %x / (Exp(Neg(%x)) + 1)"},
              .emit = R"(%y = Activation(%x) {kind="swish", alpha=1.0})",
              .when = HasFloatX};
}

TERN_RULE(RecomposeScaledSwish) {
  return Rule{.summary = "x * sigmoid(a * x) is Swish with a slope, for a = 1.702 called QuickGELU",
              .level = Level::kExtended,
              .match = {"%y = %x * Sigmoid(%x * #a)"},
              .emit = R"(%y = Activation(%x) {kind="swish", alpha=@alpha})",
              .when = HasScalarSlope,
              .compute = [](Match& m) { m.SetAttr("alpha", *ScalarOf(m.At("a"))); }};
}

TERN_RULE(RecomposeMish) {
  return Rule{.summary = "x * tanh(softplus(x)) is Mish",
              .level = Level::kExtended,
              .match = {"%y = %x * Tanh(Softplus(%x))"},
              .emit = "%y = Mish(%x)",
              .when = HasFloatX};
}

TERN_RULE(RecomposeHardSigmoid) {
  return Rule{.summary = "clip(x + 3, 0, 6) / 6 is HardSigmoid with slope 1/6",
              .level = Level::kExtended,
              .match = {"%y = Clip(%x + 3, 0, 6) / 6", "%y = Clip(%x + 3, 0, 6) * 0.16666667"},
              .emit = R"(%y = Activation(%x) {kind="hard_sigmoid", alpha=@alpha, beta=0.5})",
              .when = HasFloatX,
              .compute = [](Match& m) { m.SetAttr("alpha", 1.0 / 6); }};
}

TERN_RULE(RecomposeHardSwish) {
  return Rule{.summary = "x * clip(x + 3, 0, 6) / 6 is HardSwish",
              .level = Level::kExtended,
              .match = {"%y = %x * Clip(%x + 3, 0, 6) / 6", "%y = %x * Clip(%x + 3, 0, 6) * 0.16666667",
                        R"(%h = Activation(%x) {kind="hard_sigmoid", alpha=@a, beta=@b}  %y = %x * %h)"},
              .emit = "%y = HardSwish(%x)",
              .when = [](const Match& m) {
                const Node& h = *m.nodes().front();
                if (!IsOp(h, "Activation")) return HasFloatX(m);
                const bool fits =
                    std::abs(h.attrs.Float("alpha") - 1.0f / 6) < 1e-6f && h.attrs.Float("beta") == 0.5f;
                return fits || m.Skip("the slope is not 1/6 or the offset is not 1/2");
              }};
}

TERN_RULE(RecomposeSoftsign) {
  return Rule{.summary = "x / (1 + |x|) is Softsign",
              .level = Level::kExtended,
              .match = {"%y = %x / (Abs(%x) + 1)"},
              .emit = "%y = Softsign(%x)",
              .when = HasFloatX};
}

}  // namespace tern
