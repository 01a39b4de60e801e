// Fuses a vector that is added to every row of a MatMul's result into the bias of the MatMul.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Returns the MatMul that produces y. The MatMul must have no epilogue, and y must have no other reader.
// Otherwise calls Skip with the reason and returns null.
Node* MatMulBefore(Rewrite& r, Value* y) {
  Node* node = MadeBy(y, "MatMul");
  const auto no = [&](const auto&... reason) {
    r.Skip(reason...);
    return nullptr;
  };
  if (!node) return no("'", y->name, "' is not made by MatMul");
  if (!OnlyUse(y)) return no("'", y->name, "' is also read by another node");
  if (node->graph != &r.graph()) return no("'", y->name, "' is made outside of this graph");
  if (!NoEpilogue(*node)) return no("the node has an activation or a residual");
  if (!IsFloatValue(y)) return no("the type is not a float");
  return node;
}

// True if v can be the bias of `product`, whose result is y. `v` must broadcast to all rows of y, and must be
// a vector or a constant. A constant of rank 2 or more is refused if the weights are not constant, because it
// may be an attention mask.
bool IsRow(Rewrite& r, const Node& product, const Value* v, const Value* y) {
  if (!BroadcastsInto(v, y))
    return r.Skip("'", v->name, "' does not provably broadcast into the rows of '", y->name, "'");
  if (y->type.shape.rank() == 0) return r.Skip("the product is a scalar");
  const Shape& s = v->type.shape;
  for (int i = 0; i + 1 < s.rank(); ++i)
    if (!s[i].Is(1)) return r.Skip("'", v->name, "' differs from row to row");
  if (!v->is_constant() && s.rank() != 1) return r.Skip("'", v->name, "' is not a vector");
  if (s.rank() > 1 && !product.input(1)->is_constant()) return r.Skip("'", v->name, "' may be a mask");
  return v->type.dtype == y->type.dtype || r.Skip("'", v->name, "' has another type");
}

Value* AsVector(Rewrite& r, Value* v) {
  return v->is_constant() && v->constant.rank() != 1 ? Reshape(r, v, {-1}) : v;
}

// Fuses y + v, y - #v and #v - y, where a MatMul computes y.
bool FuseAdd(Rewrite& r) {
  Node& root = r.root();
  const bool adds = IsOp(root, "Binary", "add");
  int at = MadeBy(root.input(0), "MatMul") ? 1 : 0;
  if (at == 1 && MadeBy(root.input(1), "MatMul") && !BroadcastsInto(root.input(1), root.input(0))) at = 0;
  Value *term = root.input(at), *y = root.input(1 - at);
  Node* node = MatMulBefore(r, y);
  if (!node) return false;
  if (node->input(2)) return r.Skip("the MatMul has a bias");
  if (!adds && !term->is_constant()) return r.Skip("the operand beside the MatMul is not a constant");
  if (!IsRow(r, *node, term, y)) return false;
  Value* bias = AsVector(r, term);
  Attrs attrs = node->attrs;
  if (!adds && at == 1) bias = Neg(r, bias);
  if (!adds && at == 0) SetAttr(attrs, "alpha", -static_cast<double>(attrs.Float("alpha")));
  return r.Replace(r.Op(*node->op, attrs, {node->input(0), node->input(1), bias}));
}

// Adds the constant c of (a b + #bias) + #c to the bias. Handles (a b + #bias) - #c and #c - (a b + #bias)
// too.
bool MergeBias(Rewrite& r) {
  Node& root = r.root();
  const bool adds = IsOp(root, "Binary", "add");
  const int at = root.input(0)->is_constant() ? 0 : 1;
  Value *term = root.input(at), *y = root.input(1 - at);
  if (!term->is_constant()) return r.Skip("no operand is a constant");
  Node* node = MatMulBefore(r, y);
  if (!node) return false;
  Value* bias = node->input(2);
  if (!bias) return r.Skip("the MatMul has no bias");
  if (!bias->is_constant()) return r.Skip("the bias '", bias->name, "' is not constant");
  if (!IsRow(r, *node, term, y)) return false;
  term = AsVector(r, term);
  Attrs attrs = node->attrs;
  if (!adds && at == 0) SetAttr(attrs, "alpha", -static_cast<double>(attrs.Float("alpha")));
  Value* sum = adds ? Add(r, bias, term) : at == 1 ? Sub(r, bias, term) : Sub(r, term, bias);
  if (RoundsByCancelling(bias, term, sum))
    return r.Skip("with the sum of the constants, the result would round differently");
  return r.Replace(r.Op(*node->op, attrs, {node->input(0), node->input(1), sum}));
}

}  // namespace

TERN_RULE(FuseAddIntoMatMul) {
  return Rule{.summary = "MatMul then a vector added to every row is a MatMul with a bias",
              .roots = {"Binary:add", "Binary:sub"},
              .apply = FuseAdd,
              .example = R"(graph @g(%x: f32[N,M,K], %w: f32[K,4], %b: f32[4]) -> (%y) {
  %y = MatMul(%x, %w) + %b
})"};
}

TERN_RULE(MergeAddIntoMatMulBias) {
  return Rule{.summary = "a constant added to a MatMul with a constant bias is added to the bias",
              .roots = {"Binary:add", "Binary:sub"},
              .apply = MergeBias,
              .example = R"(graph @g(%x: f32[N,K], %w: f32[K,2]) -> (%y) {
  #b: f32[2] = (1, 2)  #c: f32[2] = (3, 4)
  %y = MatMul(%x, %w, #b) + #c
})"};
}

}  // namespace tern
