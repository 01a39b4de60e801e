// Moves an Expand after elementwise ops, and removes an Expand whose reader broadcasts. These rules run after
// the recompose stage, because the patterns of Attention there match Expand nodes.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool OneElement(const Value* v, const Value* beside) {
  const Shape& s = v->type.shape;
  return s.ranked && s.rank() <= beside->type.shape.rank() &&
         std::all_of(s.dims.begin(), s.dims.end(), [](const Dim& d) { return d.Is(1); });
}

bool MoveExpandDown(Rewrite& r) {
  const Node& root = r.root();
  std::vector<Value*> inputs = root.inputs();
  const Node* expand = nullptr;
  for (Value*& v : inputs)
    if (const Node* made = v && !expand && OnlyUse(v) ? MadeBy(v, "Expand") : nullptr) {
      expand = made;
      v = made->input(0);
    }
  if (!expand || !expand->input(0)->type.shape.ranked)
    return r.Skip("no operand is an Expand that only this node reads");
  for (const Value* v : inputs)
    if (v && v != expand->input(0) && !OneElement(v, expand->input(0)))
      return r.Skip("other operands have several elements");
  return r.Replace(r.Op("Expand", {r.Op(*root.op, root.attrs, inputs), expand->input(1)}));
}

// Replaces `x and true` and `x or false` by Expand, if they broadcast x to a larger shape.
bool NeutralToExpand(Rewrite& r) {
  const Node& root = r.root();
  const double neutral = KindName(root) == "and" ? 1 : 0;
  for (int i : {0, 1}) {
    if (UniformOf(root.input(i)) != neutral) continue;
    Value* x = root.input(1 - i);
    const auto numbers = ExpandNumbers(x->type.shape, root.output(0)->type.shape);
    if (!numbers || SameShape(x, root.output(0))) return r.Skip("the shape does not change, or is not known");
    return r.Replace(r.Op("Expand", {x, r.Ints(*numbers)}));
  }
  return r.Skip("no operand is a neutral constant");
}

// Attention broadcasts its mask over batch, heads and queries, but not over keys.
bool RemoveExpandOfMask(Rewrite& r) {
  const Node& root = r.root();
  const Node* expand = MadeBy(root.input(3), "Expand");
  if (!expand) return r.Skip("the mask is not expanded");
  const Shape &from = expand->input(0)->type.shape, &to = root.input(3)->type.shape;
  if (from.rank() < 2 || from.rank() != to.rank() || !(from[-1] == to[-1]))
    return r.Skip("the mask is expanded along the keys, or to another rank");
  std::vector<Value*> inputs = root.inputs();
  inputs[3] = expand->input(0);
  return r.Replace(r.Ops(*root.op, root.attrs, inputs, static_cast<int>(root.outputs().size())));
}

}  // namespace

TERN_RULE(MoveExpandDown) {
  return Rule{.summary = "elementwise ops run before an Expand, on fewer elements",
              .level = Level::kExtended,
              .roots = {"Unary", "Activation", "Cast", "Clip", "Binary", "Where"},
              .apply = MoveExpandDown,
              .example = R"(graph @g(%c: bool[N,1,1,S]) -> (%y) {
  #four: i64[4] = (1, 1, 4, 1)  #a: f32[] = (0)  #b: f32[] = (-1)
  %y = Where(Expand(%c, #four), #a, #b)
})"};
}

TERN_RULE(ReplaceNeutralByExpand) {
  return Rule{.summary = "And with true and Or with false become Expand if they broadcast the other operand",
              .level = Level::kExtended,
              .roots = {"Binary:and", "Binary:or"},
              .apply = NeutralToExpand,
              .example = R"(graph @g(%c: bool[N,1,S]) -> (%y) { #t: bool[2,1] = (1, 1) %y = And(%c, #t) })"};
}

TERN_RULE(RemoveExpandOfMask) {
  return Rule{
      .summary =
          "an Expand of a mask is removed, because Attention broadcasts the mask over batch, heads and queries",
      .level = Level::kExtended,
      .roots = {"Attention"},
      .apply = RemoveExpandOfMask,
      .example = R"(graph @g(%q: f32[N,2,3,4], %k: f32[N,2,3,4], %v: f32[N,2,3,4], %m: f32[1,1,1,3]) -> (%y) {
  #s: i64[4] = (1, 1, 3, 3)
  %y = Attention(%q, %k, %v, Expand(%m, #s))
})"};
}

}  // namespace tern
