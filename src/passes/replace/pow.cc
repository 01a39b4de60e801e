// Replaces powers by cheaper functions. These rules run after the recompose stage, because patterns there
// match powers.
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool KeepsType(const Match& m) {
  if (!IsFloatValue(m.At("x"))) return m.Skip("the base is not a float");
  return SameType(m.At("x"), m.At("y")) || m.Skip("the exponent changes the shape");
}

}  // namespace

TERN_RULE(ReplacePowByProduct) {
  return Rule{.summary = "x ^ 2 is x * x",
              .level = Level::kExtended,
              .match = {"%y = Pow(%x, 2)"},
              .emit = "%y = %x * %x",
              .when = KeepsType};
}

TERN_RULE(ReplacePowBySqrt) {
  return Rule{.summary = "x ^ 0.5 is Sqrt",
              .level = Level::kExtended,
              .match = {"%y = Pow(%x, 0.5)"},
              .emit = "%y = Sqrt(%x)",
              .when = KeepsType};
}

TERN_RULE(ReplacePowByReciprocal) {
  return Rule{.summary = "x ^ -1 is 1 / x",
              .level = Level::kExtended,
              .match = {"%y = Pow(%x, -1)"},
              .emit = "%y = Reciprocal(%x)",
              .when = KeepsType};
}

}  // namespace tern
