// Simplifies comparisons and Where.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Replaces not(a < b) by a >= b, which differs only if a or b is NaN.
bool Opposite(Rewrite& r) {
  static const std::pair<const char*, const char*> kPairs[] = {{"less", "greater_equal"},
                                                               {"less_equal", "greater"},
                                                               {"greater", "less_equal"},
                                                               {"greater_equal", "less"}};
  const Value* x = r.root().input(0);
  const Node* comparison = MadeBy(x, "Binary");
  if (!comparison) return r.Skip("'", x->name, "' is not a comparison");
  for (const auto& [kind, opposite] : kPairs) {
    if (KindName(*comparison) != kind) continue;
    if (IsFloatValue(comparison->input(0))) return r.Skip("a float may be NaN");
    return r.Replace(r.Op("Binary", {comparison->input(0), comparison->input(1)}, {{"kind", opposite}}));
  }
  return r.Skip("'", x->name, "' is not less, less_equal, greater or greater_equal");
}

}  // namespace

TERN_RULE(ReplaceNotOfComparison) {
  return Rule{.summary = "not(a < b) is a >= b for integers",
              .roots = {"Unary:not"},
              .apply = Opposite,
              .example = R"(graph @g(%a: i32[N], %b: i32[N]) -> (%y) { %y = Not(Less(%a, %b)) })"};
}
TERN_RULE(ReplaceWhereByCast) {
  return Rule{.summary = "Where that picks 1 or 0 is a Cast",
              .match = {"%y = Where(%c, #a, #b)"},
              .emit = "%y = Cast(%c) {to=@type}",
              .when =
                  [](const Match& m) {
                    const auto a = UniformOf(m.At("a")), b = UniformOf(m.At("b"));
                    if (!a || !b || *a != 1 || *b != 0) return m.Skip("the branches are not 1 and 0");
                    return (BroadcastsInto(m.At("a"), m.At("c")) && BroadcastsInto(m.At("b"), m.At("c"))) ||
                           m.Skip("a branch broadcasts the result to a larger shape");
                  },
              .compute = [](Match& m) { m.SetAttr("type", m.DTypeOf("a")); }};
}

}  // namespace tern
