// Recomposes functions that are written with exp and log.
#include "passes/recompose/conditions.h"
#include "passes/rewrite/rule.h"

namespace tern {
TERN_RULE(RecomposeSigmoid) {
  return Rule{.summary = "1 / (1 + exp(-x)) is Sigmoid",
              .level = Level::kExtended,
              .match = {"%y = 1 / (Exp(Neg(%x)) + 1)", "%y = Reciprocal(Exp(Neg(%x)) + 1)"},
              .emit = "%y = Sigmoid(%x)",
              .when = HasFloatX};
}

TERN_RULE(RecomposeTanh) {
  return Rule{.summary = "2 * sigmoid(2 * x) - 1 is Tanh",
              .level = Level::kExtended,
              .match = {"%y = Sigmoid(%x * 2) * 2 - 1", "%y = Sigmoid(%x * 2) * 2 + -1"},
              .emit = "%y = Tanh(%x)",
              .when = HasFloatX};
}

TERN_RULE(RecomposeSoftplus) {
  return Rule{.summary = "log(1 + exp(x)) is Softplus",
              .level = Level::kExtended,
              .match = {"%y = Log(Exp(%x) + 1)"},
              .emit = "%y = Softplus(%x)",
              .when = HasFloatX};
}

}  // namespace tern
