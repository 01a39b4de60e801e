// Folds the constant c of MatMul(x * c, w) into the weights, and the constant c of MatMul(x + c, w) into
// the bias. These rules run after the recompose stage, so that a norm before the MatMul can first fuse c as
// its scale or bias.
#include <algorithm>

#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Describes the first input of the MatMul. The node `before` computes this input from `x` and `constant`.
struct ConstantInput {
  Node* before = nullptr;
  Value *x = nullptr, *constant = nullptr;
  int at = 1;  // the index of the constant in the inputs of `before`
};

std::optional<ConstantInput> Find(Rewrite& r, std::initializer_list<const char*> kinds) {
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return std::nullopt;
  };
  const Node& root = r.root();
  Value *in = root.input(0), *w = root.input(1);
  ConstantInput p;
  for (const char* kind : kinds)
    if (Node* node = MadeBy(in, "Binary", kind)) p.before = node;
  if (!p.before) return no("'", in->name, "' is not a sum or product with a constant");
  if (!OnlyUse(in)) return no("'", in->name, "' is also read by another node");
  if (!w->is_constant() || w->constant.rank() != 2 || !IsFloatValue(w))
    return no("the second operand is not a constant float matrix");
  if (root.attrs.Bool("transpose_a")) return no("the first operand is transposed");
  p.at = p.before->input(0)->is_constant() ? 0 : 1;
  p.constant = p.before->input(p.at);
  p.x = p.before->input(1 - p.at);
  if (!p.constant->is_constant()) return no("no operand is a constant");
  if (!BroadcastsInto(p.constant, p.x)) return no("the constant broadcasts the result to a larger shape");
  const Tensor& t = p.constant->constant;
  for (int i = 0; i + 1 < t.rank(); ++i)
    if (t.dim(i) != 1) return no("the constant differs from row to row");
  return p;
}

// Returns the constant as a vector of `depth` elements, one per row of the weights.
Value* Column(Rewrite& r, const ConstantInput& p, int64_t depth) {
  Value* flat = Reshape(r, p.constant, {-1});
  if (p.constant->constant.size() != depth) flat = Add(r, flat, r.Const(Tensor(flat->type.dtype, {depth})));
  return flat;
}

bool FoldMul(Rewrite& r) {
  const auto p = Find(r, {"mul", "div"});
  if (!p) return false;
  const bool divides = IsOp(*p->before, "Binary", "div");
  if (divides && p->at == 0) return r.Skip("the constant is the dividend");
  if (!AllFiniteAndNotZero(p->constant)) return r.Skip("a factor is zero or not finite");
  Value* w = r.root().input(1);
  const bool transposed = r.root().attrs.Bool("transpose_b");
  Value* column = Column(r, *p, w->constant.dim(transposed ? 1 : 0));
  if (!transposed) column = Reshape(r, column, {-1, 1});
  std::vector<Value*> inputs = r.root().inputs();
  inputs[0] = p->x;
  inputs[1] = divides ? Div(r, w, column) : Mul(r, w, column);
  return r.Replace(r.Op(*r.root().op, r.root().attrs, inputs));
}

// Applies (x ± c) W = x W ± c W.
bool FoldAdd(Rewrite& r) {
  const auto p = Find(r, {"add", "sub"});
  if (!p) return false;
  const bool minus = IsOp(*p->before, "Binary", "sub");
  if (minus && p->at == 0) return r.Skip("the constant is the first operand");
  const Node& root = r.root();
  Value *w = root.input(1), *bias = root.input(2);
  if (bias && !bias->is_constant()) return r.Skip("the bias is not constant");
  const bool transposed = root.attrs.Bool("transpose_b");
  Value* row = Column(r, *p, w->constant.dim(transposed ? 1 : 0));
  Value* moved = r.Op("MatMul", {row, w}, {{"transpose_b", transposed}, {"alpha", root.attrs.Get("alpha")}});
  if (minus) moved = Neg(r, moved);
  std::vector<Value*> inputs = root.inputs();
  inputs.resize(std::max<size_t>(inputs.size(), 3));
  inputs[0] = p->x;
  inputs[2] = bias ? Add(r, bias, moved) : moved;
  return r.Replace(r.Op(*root.op, root.attrs, inputs));
}

}  // namespace

TERN_RULE(FoldMulBeforeMatMul) {
  return Rule{
      .summary = "a constant factor per column of a MatMul's input is folded into the rows of its weights",
      .level = Level::kExtended,
      .roots = {"MatMul"},
      .apply = FoldMul,
      .example = R"(graph @g(%x: f32[N,2]) -> (%y) {
  #c: f32[2] = (3, 4)  #w: f32[2,1] = (1, 2)
  %y = MatMul(%x * #c, #w)
})"};
}
TERN_RULE(FoldAddBeforeMatMul) {
  return Rule{
      .summary = "a constant added to every row of a MatMul's input is folded into the bias of the MatMul",
      .level = Level::kExtended,
      .roots = {"MatMul"},
      .apply = FoldAdd,
      .example = R"(graph @g(%x: f32[N,2]) -> (%y) {
  #c: f32[2] = (3, 4)  #w: f32[2,1] = (1, 2)
  %y = MatMul(%x + #c, #w)
})"};
}

}  // namespace tern
