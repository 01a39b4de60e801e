// Factors out common operands. Rewrites the variance E[x²] - E[x]².
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool SameTerms(const Match& m) {
  if (!IsFloatValue(m.At("y"))) return m.Skip("the type is not a float");
  return SameShape(m.At("b"), m.At("c")) || m.Skip("the terms do not provably have the same shape");
}

}  // namespace

TERN_RULE(FactorOutOfSum) {
  return Rule{.summary = "a * b + a * c is a * (b + c)",
              .level = Level::kExtended,
              .match = {"%y = %a * %b + %a * %c"},
              .emit = "%y = %a * (%b + %c)",
              .when = SameTerms};
}
TERN_RULE(FactorOutOfDifference) {
  return Rule{.summary = "a * b - a * c is a * (b - c)",
              .level = Level::kExtended,
              .match = {"%y = %a * %b - %a * %c"},
              .emit = "%y = %a * (%b - %c)",
              .when = SameTerms};
}

// E[x²] - E[x]² loses precision by cancellation, but E[(x - E[x])²] does not. The LayerNorm patterns expect
// the second form.
TERN_RULE(ReplaceVarianceOfMoments) {
  return Rule{.summary = "E[x²] - E[x]² is E[(x - E[x])²]",
              .level = Level::kExtended,
              .match = {"%m = ReduceMean(%x, #axes) {keep_dims=true, noop_if_empty=@noop} shared"
                        "%y = ReduceMean(%x * %x, #axes) {keep_dims=true} - %m * %m",
                        "%m = ReduceMean(%x, #axes) {keep_dims=true, noop_if_empty=@noop} shared"
                        "%y = ReduceMean(Pow(%x, 2), #axes) {keep_dims=true} - Pow(%m, 2)",
                        "%m = ReduceMean(%x, #axes) {keep_dims=true, noop_if_empty=@noop} shared"
                        "%y = ReduceMean(%x * %x, #axes) {keep_dims=true} - Pow(%m, 2)",
                        "%m = ReduceMean(%x, #axes) {keep_dims=true, noop_if_empty=@noop} shared"
                        "%y = ReduceMean(Pow(%x, 2), #axes) {keep_dims=true} - %m * %m"},
              .emit =
                  "%d = %x - %m"
                  "%y = ReduceMean(%d * %d, #axes) {keep_dims=true}",
              .when = [](const Match& m) {
                if (!IsFloatValue(m.At("x"))) return m.Skip("the type is not a float");
                return m["axes"].size() > 0 || m.Skip("the axes are not given");
              }};
}

}  // namespace tern
