// Reshape, Squeeze, Unsqueeze and Flatten: at most one of them in a row, and none that does nothing.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

bool RemoveView(Rewrite& r) {
  Value* x = r.root().input(0);
  if (!SameType(x, r.root().output(0))) return r.Skip("the dims may change");
  return r.Replace(x);
}

// Where d is 0, so is how many elements there are: no data can be lost over it.
bool CountsIn(const Dim& d, const Shape& shape) {
  return std::any_of(shape.dims.begin(), shape.dims.end(), [&](const Dim& each) { return each == d; });
}

// The second Reshape's computed target for the first one's input. A size that comes out as 0 would be taken
// for "copy", first from the value between and then from x: harmless where both dims are that size, else
// zeros must mean zeros.
Value* ReshapeByInput(Rewrite& r, Value* x) {
  const Node& root = r.root();
  const auto target = IsOp(root, "Reshape") ? ContentOf(root.input(1)) : std::nullopt;
  if (!target || !x->type.shape.ranked) return nullptr;
  const Shape &from = x->type.shape, &between = root.input(0)->type.shape;
  const auto stays = [](const Shape& s, size_t i, const Dim& d) {
    return i < s.dims.size() && s.dims[i] == d;
  };
  bool rest = false, zeros = root.attrs.Bool("allow_zero");
  for (size_t i = 0; i < target->size(); ++i) {
    const Dim& d = (*target)[i];
    if (d.unknown() || d.Is(0)) return nullptr;
    rest |= d.Is(-1);
    if (d.known()) continue;
    if (!stays(between, i, d) && !CountsIn(d, from)) return nullptr;
    zeros |= !stays(from, i, d);
  }
  if (rest && zeros) return nullptr;
  return r.Op("Reshape", {x, root.input(1)}, {{"allow_zero", zeros}});
}

bool MergeViews(Rewrite& r) {
  Value* y = r.root().output(0);
  const Node* first = MadeByView(r.root().input(0));
  if (!first) return r.Skip("its input is not made by another view");
  Value* x = first->input(0);
  Value* now = ViewAs(r, x, y->type.shape);
  if (!now) now = ReshapeByInput(r, x);
  if (!now)
    return r.Skip("no single view goes from ", x->type.shape.ToString(), " to ", y->type.shape.ToString());
  return r.Replace(now);
}

bool FixViewTarget(Rewrite& r) {
  const Node& root = r.root();
  if (!root.input(1)) return r.Skip("the dims to drop are not given");
  if (root.input(1)->is_constant()) return r.Skip("the target is constant already");
  Value* now = ViewAs(r, root.input(0), root.output(0)->type.shape);
  if (!now || now == root.input(0))
    return r.Skip("the target ", root.output(0)->type.shape.ToString(), " cannot be said with constants");
  return r.Replace(now);
}

}  // namespace

TERN_RULE(RemoveView) {
  return Rule{.summary = "a Reshape, Squeeze, Unsqueeze or Flatten to the dims that are there already",
              .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
              .apply = RemoveView,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { %f = Flatten(%x) {axis=1} %y = Relu(%f) })"};
}

TERN_RULE(MergeViews) {
  return Rule{.summary =
                  "two views in a row (Reshape, Squeeze, Unsqueeze, Flatten) are one, or none when the dims "
                  "are the first ones again",
              .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
              .apply = MergeViews,
              .example = R"(graph @g(%x: f32[N,4,1,1]) -> (%y) {
  #a: i64[2] = (-1, 4)  #b: i64[1] = (0)
  %y = Unsqueeze(Reshape(%x, #a), #b)
})"};
}

TERN_RULE(FixViewTarget) {
  return Rule{.summary =
                  "a view whose target is computed gets a constant one, where inference knows the dims "
                  "(one of them may be open, and those that stay in place)",
              .roots = {"Reshape", "Squeeze", "Unsqueeze"},
              .apply = FixViewTarget,
              .example = R"(graph @g(%x: f32[N,S,12]) -> (%y) {
  #parts: i64[2] = (3, 4)
  %y = Reshape(%x, Concat(Shape(%x) {start=0, end=2}, #parts) {axis=0})
})"};
}

}  // namespace tern
