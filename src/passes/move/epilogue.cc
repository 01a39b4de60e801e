// Moves an elementwise op before a Reshape or Transpose, so that a Conv or MatMul before the Reshape or
// Transpose can fuse the op.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool Moves(const Node* node) { return node && (IsView(*node) || IsOp(*node, "Transpose")); }

// Returns the Conv, ConvTranspose or MatMul at the start of a chain of views and Transposes that ends with v.
// Every value of the chain must have one reader. Returns null if there is no such node.
Node* FusionTarget(Value* v) {
  constexpr int kMaxChain = 4;
  for (int i = 0; i < kMaxChain && v && OnlyUse(v) && Moves(v->producer); ++i) v = v->producer->input(0);
  if (!v || !OnlyUse(v) || !v->producer) return nullptr;
  Node& node = *v->producer;
  if (!node.op->Is(kEpilogue) || !IsFloatValue(v) || node.attrs.Text("activation") != "none") return nullptr;
  return &node;
}

// Rewrites op(move(x)) as move(op(x)).
bool Swap(Rewrite& r, int main) {
  Node& root = r.root();
  Value* v = root.input(main);
  if (!Moves(v->producer)) return r.Skip("'", v->name, "' is not made by a Reshape or Transpose");
  Node& move = *v->producer;
  if (!OnlyUse(v) || move.graph != &r.graph()) return r.Skip("'", v->name, "' is also read by another node");
  if (!FusionTarget(move.input(0))) return r.Skip("no Conv or MatMul before it can fuse the op");
  std::vector<Value*> inputs = root.inputs();
  inputs[static_cast<size_t>(main)] = move.input(0);
  std::vector<Value*> views = move.inputs();
  views[0] = r.Op(*root.op, root.attrs, inputs);
  return r.Replace(r.Op(*move.op, move.attrs, views));
}

bool MoveActivation(Rewrite& r) {
  Node& root = r.root();
  for (size_t i = 1; i < root.inputs().size(); ++i)
    if (root.inputs()[i] && !root.inputs()[i]->is_constant()) return r.Skip("the bounds are not constant");
  const std::string kind = KindName(root);
  if (kind == "not" || kind == "isnan" || kind == "bitwise_not")
    return r.Skip("the function is not an activation");
  return Swap(r, 0);
}

// Moves a scalar factor. Other rules then fold the factor into the weights of the Conv or into alpha of the
// MatMul.
bool MoveFactor(Rewrite& r) {
  Node& root = r.root();
  const int at = ScalarOf(root.input(0)) ? 0 : 1;
  if (!ScalarOf(root.input(at))) return r.Skip("no operand is a number");
  if (at == 0 && IsOp(root, "Binary", "div")) return r.Skip("the number is the dividend");
  Value* v = root.input(1 - at);
  const int rank = root.input(at)->constant.rank();
  if (v->producer && Moves(v->producer) && rank > 0 && rank > v->producer->input(0)->type.shape.rank())
    return r.Skip("the number has more axes than the value before the Reshape or Transpose");
  return Swap(r, 1 - at);
}

}  // namespace

TERN_RULE(MoveActivationBeforeReshape) {
  return Rule{
      .summary = "an activation moves before the Reshape or Transpose between it and a Conv or MatMul",
      .level = Level::kExtended,
      .roots = {"Unary", "Activation", "Gelu", "Clip"},
      .apply = MoveActivation,
      .example = R"(graph @g(%x: f32[N,K], %w: f32[K,M]) -> (%y) { %y = Relu(Transpose(MatMul(%x, %w))) })"};
}
TERN_RULE(MoveScalarMulBeforeReshape) {
  return Rule{
      .summary = "a scalar factor moves before the Reshape or Transpose between it and a Conv or MatMul",
      .level = Level::kExtended,
      .roots = {"Binary:mul", "Binary:div"},
      .apply = MoveFactor,
      .example = R"(graph @g(%x: f32[N,K], %w: f32[K,M]) -> (%y) {
  #c: f32[] = (0.5)
  %y = Transpose(MatMul(%x, %w)) * #c
})"};
}

}  // namespace tern
