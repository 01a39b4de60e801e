// Removes Expands and views before ops that broadcast.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool GivesShape(const std::vector<Value*>& inputs, const Shape& wanted) {
  Shape all = inputs[0]->type.shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    auto next = BroadcastShapes(all, inputs[i]->type.shape);
    if (!next.ok()) return false;
    all = std::move(*next);
  }
  return all.ranked && all == wanted;
}

// Replaces one operand of the root by source(operand). source(operand) must not be null, and the shape of
// the result must not change. Tries operands without other readers first.
template <class F> bool ReadOperand(Rewrite& r, const F& source) {
  for (bool own : {true, false})
    for (size_t i = 0; i < r.root().inputs().size(); ++i) {
      std::vector<Value*> inputs = r.root().inputs();
      if (OnlyUse(inputs[i]) != own) continue;
      inputs[i] = source(inputs[i]);
      if (inputs[i] && GivesShape(inputs, r.root().output(0)->type.shape))
        return r.Replace(r.Op(*r.root().op, r.root().attrs, inputs));
    }
  return r.Skip("no operand can be replaced, or the result would have another shape");
}

bool RemoveExpandBeforeBroadcast(Rewrite& r) {
  return ReadOperand(r, [](const Value* v) {
    const Node* expand = MadeBy(v, "Expand");
    return expand ? expand->input(0) : nullptr;
  });
}

// True if the view restores dims that a view before a MatMul flattened. RecomposeBatchMatMul and
// RemoveReshapesAroundMatMul remove both.
bool RestoresProduct(const Node& view) {
  const Node* product = MadeBy(view.input(0), "MatMul");
  return product && OnlyUse(view.input(0)) && MadeByView(product->input(0));
}

bool RemoveViewBeforeBroadcast(Rewrite& r) {
  return ReadOperand(r, [](const Value* v) -> Value* {
    const Node* view = MadeByView(v);
    if (!view || RestoresProduct(*view)) return nullptr;
    return SameButForOnes(v->type.shape, view->input(0)->type.shape) ? view->input(0) : nullptr;
  });
}

bool FixExpandTarget(Rewrite& r) {
  const Node& node = r.root();
  if (node.input(1)->is_constant()) return r.Skip("the target is constant already");
  const auto numbers = ExpandNumbers(node.input(0)->type.shape, node.output(0)->type.shape);
  if (!numbers) return r.Skip("the dims are not known");
  return r.Replace(r.Op("Expand", {node.input(0), r.Ints(*numbers)}));
}

bool MergeExpands(Rewrite& r) {
  const Node* first = MadeBy(r.root().input(0), "Expand");
  if (!first) return r.Skip("its input is not made by an Expand");
  const auto numbers = ExpandNumbers(first->input(0)->type.shape, r.root().output(0)->type.shape);
  if (!numbers) return r.Skip("the dims are not known");
  return r.Replace(r.Op("Expand", {first->input(0), r.Ints(*numbers)}));
}

}  // namespace

TERN_RULE(RemoveExpandBeforeBroadcast) {
  return Rule{.summary = "an Expand of an operand that broadcasting expands anyway is removed",
              .roots = {"Binary", "Where"},
              .apply = RemoveExpandBeforeBroadcast,
              .example = R"(graph @g(%x: f32[N,4], %b: f32[4]) -> (%y) { %y = %x + Expand(%b, Shape(%x)) })"};
}

TERN_RULE(RemoveViewBeforeBroadcast) {
  return Rule{.summary =
                  "a Reshape, Unsqueeze or Squeeze that only adds or removes leading dims of 1 of an operand "
                  "is removed, because broadcasting ignores these dims",
              .roots = {"Binary", "Where"},
              .apply = RemoveViewBeforeBroadcast,
              .example = R"(graph @g(%x: f32[N,4], %b: f32[4]) -> (%y) {
  #zero: i64[1] = (0)
  %y = %x + Unsqueeze(%b, #zero)
})"};
}

TERN_RULE(FixExpandTarget) {
  return Rule{
      .summary = "an Expand with a computed target gets a constant target where the new dims are known",
      .roots = {"Expand"},
      .apply = FixExpandTarget,
      .example = R"(graph @g(%x: f32[N,1]) -> (%y) {
  #four: i64[1] = (4)
  %y = Expand(%x, Concat(Shape(%x) {end=1}, #four) {axis=0})
})"};
}

TERN_RULE(MergeExpands) {
  return Rule{.summary = "an Expand of an Expand is one Expand",
              .roots = {"Expand"},
              .apply = MergeExpands,
              .example = R"(graph @g(%x: f32[N,1]) -> (%y) {
  #a: i64[2] = (1, 4)  #b: i64[3] = (2, 1, 1)
  %y = Expand(Expand(%x, #a), #b)
})"};
}

}  // namespace tern
