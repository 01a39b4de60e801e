// Merges MatMul(x, a), MatMul(x, b), … with constant a, b, … into one MatMul, which reads x once.
#include "passes/linear/channels.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// True for a MatMul of x by a constant [K, N] without an epilogue. Its bias must be a constant [N] or
// absent. False for a node without readers, because this rule has already merged it.
bool Joins(const Node& node, const Value* x) {
  if (node.unused() || !IsOp(node, "MatMul") || node.input(0) != x || !NoEpilogue(node)) return false;
  const Value *w = node.input(1), *bias = node.input(2);
  if (!w->is_constant() || w->constant.rank() != 2 || !IsFloatValue(w)) return false;
  if (node.attrs.Bool("transpose_a") || node.attrs.Bool("transpose_b") || node.attrs.Float("alpha") != 1)
    return false;
  return !bias ||
         (bias->is_constant() && bias->constant.rank() == 1 && bias->constant.size() == w->constant.dim(1));
}

// True if no other mergeable MatMul of x comes before this node. The loop ends at the previous mergeable
// MatMul, so the calls for all MatMuls of x together visit each node of the graph at most once.
bool ComesFirst(const Node& node, const Value* x) {
  for (const Node* at = node.graph->Before(node); at && at != x->producer; at = at->graph->Before(*at))
    if (at->input(0) == x && Joins(*at, x)) return false;
  return true;
}

// Merges all MatMuls that read x into one, at the position of the first MatMul. Does so only if reading x
// once saves more than the Split costs.
bool Merge(Rewrite& r) {
  Node& root = r.root();
  Value* x = root.input(0);
  if (!Joins(root, x)) return r.Skip("the node is not a plain MatMul by a constant matrix");
  if (x->type.shape.rank() < 2) return r.Skip("the rank is not known, or is 1");
  if (x->uses.size() < 2) return r.Skip("no other MatMul reads '", x->name, "'");
  const bool first = ComesFirst(root, x);
  if (!first && !r.explains()) return false;  // the code below visits all readers of x
  std::vector<Node*> nodes;
  for (const auto& [reader, input] : x->uses)
    if (input == 0 && reader->graph == &r.graph() && Joins(*reader, x)) nodes.push_back(reader);
  if (nodes.size() < 2) return r.Skip("no other MatMul reads '", x->name, "'");
  std::vector<Value*> weights, biases;
  std::vector<int64_t> sizes;
  int64_t width = 0;
  bool biased = false;
  for (const Node* node : nodes) {
    weights.push_back(node->input(1));
    sizes.push_back(node->input(1)->constant.dim(1));
    width += sizes.back();
    biased |= node->input(2) != nullptr;
  }
  const int64_t depth = root.input(1)->constant.dim(0),
                saved = static_cast<int64_t>(nodes.size() - 1) * depth;
  if (saved <= 2 * width)
    return r.Skip("splitting the result would cost more than reading '", x->name, "' again");
  if (!first) return r.Skip("the MatMuls are merged at the first MatMul");
  for (size_t i = 0; biased && i < nodes.size(); ++i)
    biases.push_back(nodes[i]->input(2) ? nodes[i]->input(2) : r.Const(Tensor(x->type.dtype, {sizes[i]})));
  Value* all = r.Op("MatMul", {x, r.Op("Concat", weights, {{"axis", int64_t{1}}}),
                               biased ? r.Op("Concat", biases, {{"axis", int64_t{0}}}) : nullptr});
  Attrs attrs = FindOp("Split")->defaults;
  SetAttr(attrs, "axis", int64_t{-1});
  const auto parts = r.Ops(*FindOp("Split"), attrs, {all, r.Ints(sizes)}, static_cast<int>(nodes.size()));
  std::vector<std::pair<Value*, Value*>> pairs;
  for (size_t i = 0; i < nodes.size(); ++i) pairs.emplace_back(nodes[i]->output(0), parts[i]);
  return r.ReplaceValues(pairs);
}

}  // namespace

TERN_RULE(MergeParallelMatMuls) {
  return Rule{.summary =
                  "MatMuls of one input by several constant matrices are one MatMul and a Split, if reading "
                  "the input once saves more than the Split costs",
              .level = Level::kExtended,
              .roots = {"MatMul"},
              .apply = Merge,
              .example = R"(graph @g(%x: f32[N,5]) -> (%y, %z) {
  #v: f32[5,1] = (1, 2, 3, 4, 5)  #w: f32[5,1] = (5, 4, 3, 2, 1)
  %y = MatMul(%x, #v)
  %z = MatMul(%x, #w)
})"};
}

}  // namespace tern
