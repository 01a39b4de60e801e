// Replaces Transposes that move no data by Reshapes. This rule runs after the recompose stage, because
// patterns there match Transposes.
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool TransposeToView(Rewrite& r) {
  const auto perm = PermutationOf(r.root());
  Value* x = r.root().input(0);
  if (!perm || !x->type.shape.ranked) return r.Skip("the rank is not known");
  if (!OnlyOnesMove(*perm, x->type.shape)) return r.Skip("the order of dims larger than 1 changes");
  Value* view = ViewAs(r, x, r.root().output(0)->type.shape);
  if (!view) return r.Skip("the dims cannot be expressed with constants");
  return r.Replace(view);
}

}  // namespace

TERN_RULE(ReplaceTransposeByView) {
  return Rule{.summary = "a Transpose that moves only dims of size 1 is a Reshape",
              .level = Level::kExtended,
              .roots = {"Transpose"},
              .apply = TransposeToView,
              .example = R"(graph @g(%x: f32[N,1,4]) -> (%y) { %y = Transpose(%x) {perm=[1,0,2]} })"};
}

}  // namespace tern
