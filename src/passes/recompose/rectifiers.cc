// Recomposes ReLU, LeakyReLU, PReLU, ELU and Clip.
#include "passes/recompose/conditions.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// True if the slope a is above 0 and at most 1. For such a, max(x, a * x) is a * x if x is negative, and x
// otherwise.
bool SlopeBelowOne(const Match& m) {
  const auto slope = ScalarOf(m.At("a"));
  if (!slope || *slope <= 0 || *slope > 1) return m.Skip("the slope is not a number above 0 and at most 1");
  return HasFloatX(m);
}

// True if the slopes broadcast into x, so that the result keeps its shape.
bool SlopesFit(const Match& m) {
  return (HasFloatX(m) && BroadcastsInto(m.At("a"), m.At("x"))) ||
         m.Skip("the slopes do not broadcast into x");
}

}  // namespace

TERN_RULE(RecomposeRelu) {
  // Where(x > 0, x, 0) is not matched, because it is 0 for NaN, but Relu(NaN) is NaN.
  return Rule{.summary = "max(x, 0) is Relu, and so is a Where that selects 0 for x < 0, else x",
              .level = Level::kExtended,
              .match = {"%y = Max(%x, 0)", R"(%g = Binary(%x, 0) {kind="less"}  %y = Where(%g, 0, %x))",
                        R"(%g = Binary(%x, 0) {kind="less_equal"}  %y = Where(%g, 0, %x))"},
              .emit = "%y = Relu(%x)",
              .when = HasFloatX};
}

TERN_RULE(RecomposeLeakyRelu) {
  return Rule{.summary = "max(x, a * x) is LeakyRelu for a above 0 and at most 1",
              .level = Level::kExtended,
              .match = {"%y = Max(%x, %x * #a)",
                        R"(%g = Binary(%x, 0) {kind="greater"}  %y = Where(%g, %x, %x * #a))"},
              .emit = R"(%y = Activation(%x) {kind="leaky_relu", alpha=@alpha})",
              .when = SlopeBelowOne,
              .compute = [](Match& m) { m.SetAttr("alpha", *ScalarOf(m.At("a"))); }};
}

TERN_RULE(RecomposePrelu) {
  return Rule{.summary = "relu(x) + a * min(x, 0) is PRelu",
              .level = Level::kExtended,
              .match = {"%y = Relu(%x) + %a * Min(%x, 0)", "%y = Relu(%x) - %a * Relu(Neg(%x))",
                        "%y = Relu(%x) + %a * (%x - Abs(%x)) * 0.5"},
              .emit = R"(%y = Binary(%x, %a) {kind="prelu"})",
              .when = SlopesFit};
}

TERN_RULE(RecomposeNegatedPrelu) {
  return Rule{.summary = "relu(x) + a * relu(-x) is PRelu with the slope -a",
              .level = Level::kExtended,
              .match = {"%y = Relu(%x) + #a * Relu(Neg(%x))"},
              .emit = R"(%y = Binary(%x, Neg(#a)) {kind="prelu"})",
              .when = SlopesFit};
}

TERN_RULE(RecomposeElu) {
  return Rule{.summary = "x where x > 0, else a * (exp(x) - 1), is ELU",
              .level = Level::kExtended,
              .match = {R"(%g = Binary(%x, 0) {kind="greater"}  %y = Where(%g, %x, (Exp(%x) - 1) * #a))"},
              .emit = R"(%y = Activation(%x) {kind="elu", alpha=@alpha})",
              .when = HasScalarSlope,
              .compute = [](Match& m) { m.SetAttr("alpha", *ScalarOf(m.At("a"))); }};
}

TERN_RULE(RecomposeClip) {
  return Rule{.summary = "min(max(x, low), high) is Clip",
              .level = Level::kExtended,
              .match = {"%y = Min(Max(%x, #low), #high)", "%y = Max(Min(%x, #high), #low)"},
              .emit = "%y = Clip(%x, #min, #max)",
              .when =
                  [](const Match& m) {
                    const auto low = ScalarOf(m.At("low")), high = ScalarOf(m.At("high"));
                    if (!low || !high) return m.Skip("the bounds are not numbers");
                    return *low <= *high || m.Skip("the lower bound is above the upper one");
                  },
              .compute =
                  [](Match& m) {
                    m.Set("min", m["low"].Contiguous().Reshaped({}));
                    m.Set("max", m["high"].Contiguous().Reshaped({}));
                  }};
}

}  // namespace tern
