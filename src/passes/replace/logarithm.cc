// Removes Exp of Log and Log of Exp. Log(Exp(x)) is removed even where Exp(x) overflows to infinity.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// True if no result of the node is negative. For a negative x, exp(log(x)) is NaN instead of x.
bool NeverNegative(const Node* node) {
  if (!node) return false;
  if (IsOp(*node, "Softmax", "softmax")) return true;
  for (const char* kind : {"exp", "sigmoid", "relu", "abs", "softplus", "sqrt", "cosh"})
    if (IsOp(*node, "Unary", kind)) return true;
  return false;
}

}  // namespace

TERN_RULE(RemoveExpOfLog) {
  return Rule{.summary = "exp(log(x)) is x, where x is never negative",
              .level = Level::kExtended,
              .match = {"%l = Log(%x) shared %y = Exp(%l)"},
              .emit = "%y = %x",
              .when = [](const Match& m) {
                return NeverNegative(m.At("x")->producer) ||
                       m.Skip("'", m.At("x")->name, "' may be negative");
              }};
}
TERN_RULE(RemoveLogOfExp) {
  return Rule{.summary = "log(exp(x)) is x, also where exp(x) is too large for its type",
              .level = Level::kExtended,
              .match = {"%e = Exp(%x) shared %y = Log(%e)"},
              .emit = "%y = %x"};
}

}  // namespace tern
