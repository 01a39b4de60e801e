// Recomposes a Transpose of the last two axes from a Reshape, a Transpose and a Reshape.
#include <numeric>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// The nodes change x from [..., a, b] to [n, a, b], [n, b, a] and [..., b, a]. Torch exports
// k.transpose(-1, -2) in this form.
bool RecomposeBatchTransposeAt(Rewrite& r) {
  Value* y = r.root().output(0);
  const Node* transpose = MadeBy(r.root().input(0), "Transpose");
  const Node* flat = transpose ? MadeBy(transpose->input(0), "Reshape") : nullptr;
  if (!flat || !OnlyUse(r.root().input(0)) || !OnlyUse(transpose->input(0)))
    return r.Skip("the input is not a transpose between reshapes that is read nowhere else");
  const Shape &from = flat->output(0)->type.shape, &x = flat->input(0)->type.shape, &to = y->type.shape;
  const int rank = to.rank();
  if (rank < 4 || from.rank() != 3 || x.rank() < 4)
    return r.Skip("the leading axes are not flattened and restored");
  if (transpose->attrs.Ints("perm") != std::vector<int64_t>{0, 2, 1})
    return r.Skip("the Transpose does not swap the last two axes");
  if (from[1] != x[-2] || from[2] != x[-1]) return r.Skip("the first Reshape changes the last two axes");
  if (to[-2] != x[-1] || to[-1] != x[-2])
    return r.Skip("the second Reshape does not restore the last two axes");
  Shape before = to;
  std::swap(before.dims[before.dims.size() - 1], before.dims[before.dims.size() - 2]);
  Value* view = ViewAs(r, flat->input(0), before);
  if (!view) return r.Skip("the shape cannot be expressed with constants");
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return r.Replace(r.Op("Transpose", {view}, {{"perm", perm}}));
}

}  // namespace

TERN_RULE(RecomposeBatchTranspose) {
  return Rule{
      .summary = "a Reshape, Transpose and Reshape that only swap the last two axes are one Transpose",
      .level = Level::kExtended,
      .roots = {"Reshape"},
      .apply = RecomposeBatchTransposeAt,
      .example = R"(graph @transpose(%x: f32[N,4,3,8]) -> (%y) {
  #flat: i64[3] = (-1, 3, 8)  #shape: i64[4] = (-1, 4, 8, 3)
  %y = Reshape(Transpose(Reshape(%x, #flat)) {perm=[0,2,1]}, #shape)
})"};
}

}  // namespace tern
