// Removes Reshapes that flatten the batch before a MatMul and restore it after the MatMul, because MatMul
// accepts any rank.
#include <algorithm>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// True if `y` has the dims of `x`, except for the last one, in whose place it has one or more dims.
bool SameButLast(const Shape& x, const Shape& y) {
  if (!x.ranked || x.rank() < 2 || y.rank() < x.rank()) return false;
  for (int i = 0; i + 1 < x.rank(); ++i)
    if (!(x[i] == y[i])) return false;
  return true;
}

// True if a Reshape to `target` gives the same shape for each input with as many elements.
bool IndependentTarget(const Node& reshape) {
  if (reshape.attrs.Bool("allow_zero")) return true;
  const auto target = ContentOf(reshape.input(1));
  return target &&
         std::none_of(target->begin(), target->end(), [](const Dim& d) { return !d.known() || d.Is(0); });
}

bool Unwrap(Rewrite& r) {
  Value* y = r.root().input(0);
  Node* product = MadeBy(y, "MatMul");
  if (!product) return r.Skip("'", y->name, "' is not made by MatMul");
  if (!OnlyUse(y)) return r.Skip("'", y->name, "' is also read by another node");
  if (product->graph != &r.graph()) return r.Skip("'", y->name, "' is made outside of this graph");
  Value* flat = product->input(0);
  Node* fold = MadeBy(flat, "Reshape");
  if (!fold) fold = MadeBy(flat, "Flatten");
  if (!fold) return r.Skip("'", flat->name, "' is not made by Reshape");
  if (flat->type.shape.rank() != 2 || product->input(1)->type.shape.rank() != 2)
    return r.Skip("an operand of the MatMul is not a matrix");
  if (product->attrs.Bool("transpose_a")) return r.Skip("the flat matrix is transposed");
  const Value *bias = product->input(2), *x = fold->input(0);
  if (product->input(3) || (bias && bias->type.shape.rank() > 1))
    return r.Skip("the bias is not a vector, or there is a residual");
  const Shape &inside = x->type.shape, &outside = r.root().output(0)->type.shape;
  if (!SameButLast(inside, outside)) return r.Skip("the shapes before and after are not provably equal");
  if (!(inside[-1] == flat->type.shape[-1])) return r.Skip("the last dim is reshaped too");
  const bool same = inside.rank() == outside.rank();
  if (same && !(outside[-1] == y->type.shape[-1])) return r.Skip("the last dim is reshaped too");
  if (!same && (!IsOp(r.root(), "Reshape") || !IndependentTarget(r.root())))
    return r.Skip("the target of the Reshape depends on its input");
  std::vector<Value*> inputs = product->inputs();
  inputs[0] = fold->input(0);
  Value* wide = r.Op(*product->op, product->attrs, inputs);
  return r.Replace(same ? wide : r.Op(*r.root().op, r.root().attrs, {wide, r.root().input(1)}));
}

}  // namespace

TERN_RULE(RemoveReshapesAroundMatMul) {
  return Rule{
      .summary =
          "a Reshape to a matrix before a MatMul and the Reshape back are removed, because MatMul accepts any rank",
      .roots = {"Reshape"},
      .apply = Unwrap,
      .example = R"(graph @g(%x: f32[5,7,4], %w: f32[4,3]) -> (%y) {
  #flat: i64[2] = (-1, 4)  #back: i64[3] = (5, 7, 3)
  %y = Reshape(MatMul(Reshape(%x, #flat), %w), #back)
})"};
}

}  // namespace tern
