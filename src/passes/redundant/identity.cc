// Removes nodes that return their input unchanged.
#include "passes/rewrite/rule.h"

namespace tern {

TERN_RULE(RemoveIdentity) {
  return Rule{.summary = "Identity is removed", .match = {"%y = Identity(%x)"}, .emit = "%y = %x"};
}

TERN_RULE(RemoveSameCast) {
  return Rule{
      .summary = "a Cast to the type of its input is removed",
      .match = {"%y = Cast(%x)"},
      .emit = "%y = %x",
      .when = [](const Match& m) { return m.DTypeOf("x") == m.DTypeOf("y") || m.Skip("the types differ"); }};
}

}  // namespace tern
