// Simplifies negations.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool Signed(const Match& m) {
  const DType t = m.DTypeOf("y");
  return IsFloat(t) || IsSignedInt(t) || m.Skip("the type has no sign");
}

}  // namespace

TERN_RULE(ReplaceAddOfNegation) {
  return Rule{
      .summary = "a + (-b) is a - b", .match = {"%n = Neg(%b) shared %y = %a + %n"}, .emit = "%y = %a - %b"};
}
TERN_RULE(ReplaceSubOfNegation) {
  return Rule{
      .summary = "a - (-b) is a + b", .match = {"%n = Neg(%b) shared %y = %a - %n"}, .emit = "%y = %a + %b"};
}
TERN_RULE(ReplaceNegationOfSub) {
  return Rule{.summary = "-(a - b) is b - a, except for the sign of a zero",
              .level = Level::kExtended,
              .match = {"%y = Neg(%a - %b)"},
              .emit = "%y = %b - %a"};
}
TERN_RULE(RemoveNegatedFactors) {
  return Rule{.summary = "(-a) * (-b) is a * b",
              .match = {"%m = Neg(%a) shared %n = Neg(%b) shared %y = %m * %n"},
              .emit = "%y = %a * %b"};
}
TERN_RULE(FoldNegationIntoFactor) {
  return Rule{.summary = "(-x) * constant is x * (-constant)",
              .match = {"%n = Neg(%x) shared %y = %n * #c"},
              .emit = "%y = %x * Neg(#c)",
              .when = Signed};
}
TERN_RULE(ReplaceMulByMinusOne) {
  return Rule{.summary = "x * -1 is -x",
              .match = {"%y = %x * #c"},
              .emit = "%y = Neg(%x)",
              .when = [](const Match& m) {
                const auto all = UniformOf(m.At("c"));
                if (!all || *all != -1) return m.Skip("the constant is not -1 everywhere");
                return BroadcastsInto(m.At("c"), m.At("x")) ||
                       m.Skip("the constant broadcasts the result to a larger shape");
              }};
}
TERN_RULE(ReplaceSubFromZero) {
  return Rule{.summary = "0 - x is -x, except for the sign of a zero",
              .level = Level::kExtended,
              .match = {"%y = #c - %x"},
              .emit = "%y = Neg(%x)",
              .when = [](const Match& m) {
                const auto all = UniformOf(m.At("c"));
                if (!all || *all != 0) return m.Skip("the constant is not 0 everywhere");
                if (!BroadcastsInto(m.At("c"), m.At("x")))
                  return m.Skip("the constant broadcasts the result to a larger shape");
                return Signed(m);
              }};
}

}  // namespace tern
