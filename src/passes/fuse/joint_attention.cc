// Makes Attention read q, k and v from one value that contains all three.
#include <algorithm>

#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// True if q, k and v are tensors [batch, length, heads * head_size] with the same head size.
bool EvenHeads(Rewrite& r) {
  const Attrs& a = r.root().attrs;
  const int64_t q_heads = a.Int("q_heads"), kv_heads = a.Int("kv_heads");
  if (a.Bool("joint")) return r.Skip("q, k and v are joined already");
  if (q_heads < 1 || kv_heads < 1) return r.Skip("q, k and v are not packed");
  int64_t sizes[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    const Shape& s = r.root().input(i)->type.shape;
    if (s.rank() != 3 || !s[2].known())
      return r.Skip("q, k and v are not packed, or their widths are unknown");
    sizes[i] = s[2].value() / (i == 0 ? q_heads : kv_heads);
  }
  return (sizes[0] > 0 && sizes[0] == sizes[1] && sizes[1] == sizes[2]) ||
         r.Skip("the head sizes of q, k and v differ");
}

bool ReplaceByJoint(Rewrite& r, Value* all) {
  const Node& node = r.root();
  Attrs attrs = WithAttrs(node.attrs, {{"joint", true}});
  std::vector<Value*> inputs = node.inputs();
  std::fill_n(inputs.begin(), 3, all);
  return r.Replace(r.Ops(*node.op, std::move(attrs), inputs, static_cast<int>(node.outputs().size())));
}

bool FuseSplit(Rewrite& r) {
  const Node& node = r.root();
  const Node* split = MadeBy(node.input(0), "Split");
  if (!split) return r.Skip("q is not a part of a Split");
  if (split->graph != &r.graph() || split->outputs().size() != 3 ||
      AxisOf(split->attrs.Int("axis"), split->input(0)) != 2)
    return r.Skip("the Split does not make three parts along the last axis");
  for (int i = 0; i < 3; ++i) {
    if (node.input(i) != split->output(i)) return r.Skip("q, k and v are not the three parts in order");
    if (!OnlyUse(node.input(i))) return r.Skip("'", node.input(i)->name, "' is also read by another node");
  }
  return EvenHeads(r) && ReplaceByJoint(r, split->input(0));
}

// True if v is the result of a MatMul that reads the same input as `first`. Its weights must be a constant
// matrix. Its bias must be a constant vector or absent.
bool IsProjection(Rewrite& r, const Value* v, const Node* first) {
  const Node* m = MadeBy(v, "MatMul");
  if (!m || m->graph != &r.graph()) return r.Skip("'", v->name, "' is not made by MatMul");
  if (!OnlyUse(v)) return r.Skip("'", v->name, "' is also read by another node");
  if (m->input(0) != first->input(0)) return r.Skip("the MatMuls read different inputs");
  const Value *w = m->input(1), *bias = m->input(2);
  if (!NoEpilogue(*m)) return r.Skip("the node has an activation or a residual");
  if (!w->is_constant() || w->constant.rank() != 2 || !IsFloatValue(w) || w->type.dtype != v->type.dtype)
    return r.Skip("the weights are not a constant float matrix");
  if (m->attrs.Bool("transpose_a") || m->attrs.Float("alpha") != 1 ||
      m->attrs.Bool("transpose_b") != first->attrs.Bool("transpose_b"))
    return r.Skip("the MatMuls differ in more than their weights");
  if (bias && (!bias->is_constant() || bias->constant.rank() != 1 || bias->type.dtype != v->type.dtype ||
               bias->constant.size() != v->type.shape[-1].value()))
    return r.Skip("a bias is not a constant vector");
  return true;
}

bool MergeProjections(Rewrite& r) {
  const Node& node = r.root();
  const Node* first = MadeBy(node.input(0), "MatMul");
  if (!first) return r.Skip("q is not made by MatMul");
  if (!EvenHeads(r)) return false;
  std::vector<Value*> weights, biases;
  bool biased = false;
  for (int i = 0; i < 3; ++i) {
    if (!IsProjection(r, node.input(i), first)) return false;
    const Node* m = node.input(i)->producer;
    biased |= m->input(2) != nullptr;
    weights.push_back(m->input(1));
  }
  for (int i = 0; biased && i < 3; ++i) {
    const Value* v = node.input(i);
    Value* bias = v->producer->input(2);
    biases.push_back(bias ? bias : r.Const(Tensor(v->type.dtype, {v->type.shape[2].value()})));
  }
  const int64_t axis = first->attrs.Bool("transpose_b") ? 0 : 1;
  Value* all = r.Op(*first->op, first->attrs,
                    {first->input(0), r.Op("Concat", weights, {{"axis", axis}}),
                     biased ? r.Op("Concat", biases, {{"axis", int64_t{0}}}) : nullptr});
  return ReplaceByJoint(r, all);
}

}  // namespace

TERN_RULE(FuseSplitIntoAttention) {
  return Rule{.summary = "Attention of the three parts of a Split reads the unsplit value",
              .level = Level::kExtended,
              .roots = {"Attention"},
              .apply = FuseSplit,
              .example = R"(graph @g(%x: f32[N,L,24]) -> (%y) {
  %q, %k, %v = Split(%x) {axis=2, num_outputs=3}
  %y = Attention(%q, %k, %v) {q_heads=2, kv_heads=2, merged=true}
})"};
}

TERN_RULE(MergeAttentionProjections) {
  return Rule{.summary = "three MatMuls that compute q, k and v from one value are merged into one",
              .level = Level::kExtended,
              .roots = {"Attention"},
              .apply = MergeProjections,
              .example = R"(graph @g(%x: f32[N,L,2]) -> (%y) {
  #q: f32[2,2] = (1, 2, 3, 4)  #k: f32[2,2] = (4, 3, 2, 1)  #v: f32[2,2] = (0, 1, 2, 3)
  %y = Attention(MatMul(%x, #q), MatMul(%x, #k), MatMul(%x, #v)) {q_heads=2, kv_heads=2, merged=true}
})"};
}

}  // namespace tern
