// Makes Attention read and write a KV cache that stacks keys and values in one tensor [2, ...].
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Returns the tensor t of dims [2, ...] with v = t[which]. A Gather, or a Split and a Squeeze, must compute
// v. Returns null if there is no such tensor.
Value* StackedSource(const Value* v, int which) {
  Value* stacked = nullptr;
  if (const Node* gather = MadeBy(v, "Gather")) {
    const Value* index = gather->input(1);
    const auto at = index->is_constant() && index->constant.rank() == 0 ? IntsOf(index) : std::nullopt;
    if (!at || ((*at)[0] != which && (*at)[0] != which - 2)) return nullptr;
    stacked = AxisOf(gather->attrs.Int("axis"), gather->input(0)) == 0 ? gather->input(0) : nullptr;
  } else if (const Node* squeeze = MadeBy(v, "Squeeze")) {
    const Node* split = MadeBy(squeeze->input(0), "Split");
    if (!split || squeeze->input(0)->output != which || split->outputs().size() != 2) return nullptr;
    stacked = AxisOf(split->attrs.Int("axis"), split->input(0)) == 0 ? split->input(0) : nullptr;
  }
  const bool fits = stacked && stacked->type.shape.rank() == 5 && stacked->type.shape[0].Is(2);
  return fits && v->type.shape.rank() == 4 ? stacked : nullptr;
}

// Returns the Concat that stacks v and another value along a new first axis, with v as input `position`.
// Returns null if there is none.
Node* StackOf(const Value* v, size_t position) {
  Node* unsqueeze = OnlyReader(v);
  if (!unsqueeze || !IsOp(*unsqueeze, "Unsqueeze")) return nullptr;
  const auto axes = IntsOf(unsqueeze->input(1));
  Node* concat = OnlyReader(unsqueeze->output(0));
  if (!axes || axes->size() != 1 || AxisOf((*axes)[0], unsqueeze->output(0)) != 0) return nullptr;
  if (!concat || !IsOp(*concat, "Concat") || concat->inputs().size() != 2) return nullptr;
  if (concat->inputs()[position] != unsqueeze->output(0) || unsqueeze->graph != v->graph ||
      concat->graph != v->graph)
    return nullptr;
  return AxisOf(concat->attrs.Int("axis"), concat->output(0)) == 0 ? concat : nullptr;
}

bool FuseStacked(Rewrite& r) {
  const Node& node = r.root();
  if (node.attrs.Bool("stacked") || node.attrs.Bool("guarded"))
    return r.Skip("the Attention is stacked already, or guarded");
  if (node.outputs().size() != 3)
    return r.Skip("the Attention does not have exactly three outputs: y, present keys and present values");
  Node* concat = StackOf(node.output(1), 0);
  if (!concat || StackOf(node.output(2), 1) != concat)
    return r.Skip("present keys and values are not stacked, or are read elsewhere");
  std::vector<Value*> inputs = node.inputs();
  if (node.input(4) || node.input(5)) {
    Value *k = StackedSource(node.input(4), 0), *v = StackedSource(node.input(5), 1);
    if (!k || k != v) return r.Skip("past keys and values are not halves of one value");
    inputs[4] = inputs[5] = k;
  }
  const auto outputs = r.Ops(*node.op, WithAttrs(node.attrs, {{"stacked", true}}), inputs, 2);
  // The old Unsqueezes are removed later, because nothing reads their results. Until then they need valid
  // inputs.
  const auto half = [&](int64_t i) {
    return r.Op("Gather", {outputs[1], r.Const(Tensor::Of(DType::kI64, {}, {static_cast<double>(i)}))});
  };
  return r.ReplaceValues({{node.output(0), outputs[0]},
                          {node.output(1), half(0)},
                          {node.output(2), half(1)},
                          {concat->output(0), outputs[1]}});
}

}  // namespace

TERN_RULE(FuseCacheIntoAttention) {
  return Rule{
      .summary =
          "Attention reads and writes a stacked KV cache itself, without ops that split and stack the cache",
      .level = Level::kExtended,
      .roots = {"Attention"},
      .apply = FuseStacked,
      .example =
          R"(graph @g(%q: f32[N,2,L,4], %k: f32[N,2,L,4], %v: f32[N,2,L,4], %p: f32[2,N,2,P,4]) -> (%y, %c) {
  #zero: i64[] = (0)  #one: i64[] = (1)  #front: i64[1] = (0)
  %y, %a, %b = Attention(%q, %k, %v, _, Gather(%p, #zero), Gather(%p, #one))
  %c = Concat(Unsqueeze(%a, #front), Unsqueeze(%b, #front)) {axis=0}
})"};
}

}  // namespace tern
