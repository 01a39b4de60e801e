// Removes identity Transposes and merges consecutive ones.
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool RemoveIdentityTranspose(Rewrite& r) {
  const auto perm = PermutationOf(r.root());
  if (!perm || !IsIdentity(*perm)) return r.Skip("the permutation is not the identity");
  return r.Replace(r.root().input(0));
}

bool MergeTransposes(Rewrite& r) {
  const Node* first = MadeBy(r.root().input(0), "Transpose");
  if (!first) return r.Skip("its input is not made by a Transpose");
  const auto p = PermutationOf(*first), q = PermutationOf(r.root());
  if (!p || !q) return r.Skip("the rank is not known");
  const Permutation composed = Compose(*p, *q);
  Value* x = first->input(0);
  return r.Replace(IsIdentity(composed) ? x : r.Op("Transpose", {x}, {{"perm", composed}}));
}

}  // namespace

TERN_RULE(RemoveIdentityTranspose) {
  return Rule{.summary = "a Transpose by the identity permutation is removed",
              .roots = {"Transpose"},
              .apply = RemoveIdentityTranspose,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { %y = Relu(Transpose(%x) {perm=[0,1]}) })"};
}

TERN_RULE(MergeTransposes) {
  return Rule{.summary = "two consecutive Transposes are one, or none when they cancel",
              .roots = {"Transpose"},
              .apply = MergeTransposes,
              .example = R"(graph @g(%x: f32[N,3,4]) -> (%y) {
  %y = Transpose(Transpose(%x) {perm=[0,2,1]}) {perm=[2,1,0]}
})"};
}

}  // namespace tern
