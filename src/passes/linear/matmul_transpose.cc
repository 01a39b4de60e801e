// Fuses Transposes around a MatMul into the transpose flags of the MatMul.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// True if the Transpose swaps the last two axes and nothing else.
bool SwapsLastTwo(const Node& transpose) {
  const int rank = transpose.output(0)->type.shape.rank();
  if (rank < 2) return false;
  std::vector<int64_t> perm = transpose.attrs.Ints("perm");
  if (perm.empty()) return rank == 2;
  for (int i = 0; i < rank; ++i) {
    const int64_t expected = i == rank - 1 ? rank - 2 : i == rank - 2 ? rank - 1 : i;
    if (perm[static_cast<size_t>(i)] != expected) return false;
  }
  return true;
}

bool FuseOperands(Rewrite& r) {
  Node& root = r.root();
  std::vector<Value*> inputs = root.inputs();
  Attrs attrs = root.attrs;
  bool found = false;
  r.Skip("no operand is made by Transpose");
  for (size_t i : {0u, 1u}) {
    const Node* move = MadeBy(inputs[i], "Transpose");
    const char* flag = i ? "transpose_b" : "transpose_a";
    if (!move) continue;
    if (!SwapsLastTwo(*move)) {
      r.Skip("'", inputs[i]->name, "' is not a transpose of the last two axes");
    } else if (!OnlyUse(inputs[i])) {
      r.Skip("'", inputs[i]->name, "' is also read by another node");
    } else {
      SetAttr(attrs, flag, !attrs.Bool(flag));
      inputs[i] = move->input(0);
      found = true;
    }
  }
  return found && r.Replace(r.Op(*root.op, attrs, inputs));
}

// Applies (a b)ᵀ = bᵀ aᵀ. Alpha and the activation are elementwise, so they stay the same.
bool FuseResult(Rewrite& r) {
  if (!SwapsLastTwo(r.root())) return r.Skip("the Transpose does not swap the last two axes");
  Value* y = r.root().input(0);
  Node* product = MadeBy(y, "MatMul");
  if (!product) return r.Skip("'", y->name, "' is not made by MatMul");
  if (!OnlyUse(y)) return r.Skip("'", y->name, "' is also read by another node");
  if (product->graph != &r.graph()) return r.Skip("'", y->name, "' is made outside of this graph");
  Value *a = product->input(0), *b = product->input(1);
  if (a->type.shape.rank() < 2 || b->type.shape.rank() < 2)
    return r.Skip("an operand is not known to be a matrix");
  if (product->input(2) || product->input(3)) return r.Skip("the MatMul has a bias or a residual");
  Attrs attrs = product->attrs;
  SetAttr(attrs, "transpose_a", !product->attrs.Bool("transpose_b"));
  SetAttr(attrs, "transpose_b", !product->attrs.Bool("transpose_a"));
  return r.Replace(r.Op(*product->op, attrs, {b, a}));
}

}  // namespace

TERN_RULE(FuseTransposeIntoMatMul) {
  return Rule{.summary = "a Transpose of a MatMul's operand becomes a transpose flag of the MatMul",
              .roots = {"MatMul"},
              .apply = FuseOperands,
              .example = R"(graph @g(%a: f32[B,N,4], %b: f32[B,M,4]) -> (%y) {
  %y = MatMul(%a, Transpose(%b) {perm=[0,2,1]})
})"};
}

TERN_RULE(FuseTransposeOfMatMul) {
  return Rule{.summary = "transpose(a b) is a MatMul of transposed b and transposed a",
              .roots = {"Transpose"},
              .apply = FuseResult,
              .example = R"(graph @g(%a: f32[B,N,4], %b: f32[B,4,M]) -> (%y) {
  %y = Transpose(MatMul(%a, %b)) {perm=[0,2,1]}
})"};
}

}  // namespace tern
