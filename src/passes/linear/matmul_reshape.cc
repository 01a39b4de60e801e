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
  if (product->input(3) || (bias && (!bias->type.shape.ranked || bias->type.shape.rank() > 1)))
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

// True if the value is flattened for, or split by, every node that reads it.
bool ReadAsMatrix(const Value* v) {
  const auto fits = [v](const std::pair<Node*, int>& use) {
    const Node& reader = *use.first;
    if (IsOp(reader, "Reshape")) return use.second == 0;
    return IsOp(reader, "MatMul") && use.second == 0 && reader.input(1) != v &&
           reader.input(1)->type.shape.rank() == 2 && !reader.attrs.Bool("transpose_a");
  };
  return v->output_uses == 0 && std::all_of(v->uses.begin(), v->uses.end(), fits);
}

bool MoveFlatten(Rewrite& r) {
  const Node& root = r.root();
  const Node* fold = MadeBy(root.input(0), "Reshape");
  if (!fold) return r.Skip("the left operand is not made by Reshape");
  Value* x = fold->input(0);
  const Shape &inside = x->type.shape, &flat = root.input(0)->type.shape, &y = root.output(0)->type.shape;
  if (inside.rank() < 3 || flat.rank() != 2 || !(inside[-1] == flat[-1]))
    return r.Skip("the Reshape does not make a matrix of all but the last dim");
  if (root.input(1)->type.shape.rank() != 2 || root.input(3) || root.attrs.Bool("transpose_a"))
    return r.Skip("the right operand is not a matrix, or there is a residual");
  if (root.input(2) && root.input(2)->type.shape.rank() > 1) return r.Skip("the bias is not a vector");
  const bool chained = std::any_of(root.output(0)->uses.begin(), root.output(0)->uses.end(),
                                   [](const auto& use) { return IsOp(*use.first, "MatMul"); });
  if (!chained || !ReadAsMatrix(root.output(0)) || !y[-1].known() || y[-1].Is(0))
    return r.Skip("the result is not the left operand of further products");
  std::vector<Value*> inputs = root.inputs();
  inputs[0] = x;
  Value* wide = r.Op(*root.op, root.attrs, inputs);
  return r.Replace(r.Op("Reshape", {wide, r.Ints({-1, y[-1].value()})}));
}

}  // namespace

TERN_RULE(MoveFlattenAfterMatMul) {
  return Rule{
      .summary =
          "a Reshape to a matrix moves after a MatMul whose result further MatMuls read, so that it meets the Reshape back",
      .roots = {"MatMul"},
      .apply = MoveFlatten,
      .example = R"(graph @g(%x: f32[5,7,4], %w: f32[4,3], %v: f32[3,2]) -> (%y, %z) {
  #flat: i64[2] = (-1, 4)  #back: i64[3] = (5, 7, 2)
  %m = MatMul(Reshape(%x, #flat), %w)
  %y = Reshape(MatMul(%m, %v), #back)
  %z = Reshape(MatMul(%m, %v) {activation="relu"}, #back)
})"};
}

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
