// Removes views (Reshape, Squeeze, Unsqueeze, Flatten) that do not change the dims, and merges consecutive
// views.
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

// True if d is a dim of the shape. If d is 0 at run time, a tensor of this shape is empty.
bool CountsIn(const Dim& d, const Shape& shape) {
  return std::any_of(shape.dims.begin(), shape.dims.end(), [&](const Dim& dim) { return dim == d; });
}

// Emits a Reshape of x, the input of the first view, to the target of the second view, which is computed at
// run time. If target i is 0 at run time, a Reshape copies dim i of its input, which is now x. The copy is
// right if dim i of x is the computed size. Otherwise sets allow_zero, so that the new dim is 0.
Value* ReshapeByInput(Rewrite& r, Value* x) {
  const Node& root = r.root();
  const auto target = IsOp(root, "Reshape") ? ContentOf(root.input(1)) : std::nullopt;
  if (!target || !x->type.shape.ranked) return nullptr;
  const Shape &from = x->type.shape, &between = root.input(0)->type.shape;
  const auto stays = [](const Shape& s, size_t i, const Dim& d) {
    return i < s.dims.size() && s.dims[i] == d;
  };
  bool has_inferred = false, zeros = root.attrs.Bool("allow_zero");
  for (size_t i = 0; i < target->size(); ++i) {
    const Dim& d = (*target)[i];
    if (d.unknown() || d.Is(0)) return nullptr;
    has_inferred |= d.Is(-1);
    if (d.known()) continue;
    if (!stays(between, i, d) && !CountsIn(d, from)) return nullptr;
    zeros |= !stays(from, i, d);
  }
  if (has_inferred && zeros) return nullptr;
  return r.Op("Reshape", {x, root.input(1)}, {{"allow_zero", zeros}});
}

bool MergeViews(Rewrite& r) {
  Value* y = r.root().output(0);
  const Node* first = MadeByView(r.root().input(0));
  if (!first) return r.Skip("its input is not made by another view");
  Value* x = first->input(0);
  Value* result = ViewAs(r, x, y->type.shape);
  if (!result) result = ReshapeByInput(r, x);
  if (!result)
    return r.Skip("no single view converts ", x->type.shape.ToString(), " to ", y->type.shape.ToString());
  return r.Replace(result);
}

bool FixViewTarget(Rewrite& r) {
  const Node& root = r.root();
  if (!root.input(1)) return r.Skip("the dims to drop are not given");
  if (root.input(1)->is_constant()) return r.Skip("the target is constant already");
  Value* result = ViewAs(r, root.input(0), root.output(0)->type.shape);
  if (!result || result == root.input(0))
    return r.Skip("the target ", root.output(0)->type.shape.ToString(),
                  " cannot be expressed with constants");
  return r.Replace(result);
}

}  // namespace

TERN_RULE(RemoveView) {
  return Rule{.summary = "a Reshape, Squeeze, Unsqueeze or Flatten that does not change the dims is removed",
              .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
              .apply = RemoveView,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) { %f = Flatten(%x) {axis=1} %y = Relu(%f) })"};
}

TERN_RULE(MergeViews) {
  return Rule{
      .summary =
          "two consecutive views (Reshape, Squeeze, Unsqueeze, Flatten) are merged, or removed when the dims "
          "are the same before and after them",
      .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
      .apply = MergeViews,
      .example = R"(graph @g(%x: f32[N,4,1,1]) -> (%y) {
  #a: i64[2] = (-1, 4)  #b: i64[1] = (0)
  %y = Unsqueeze(Reshape(%x, #a), #b)
})"};
}

TERN_RULE(FixViewTarget) {
  return Rule{.summary =
                  "a view with a computed target gets a constant target, if at most one dim is neither known "
                  "nor copied from the input",
              .roots = {"Reshape", "Squeeze", "Unsqueeze"},
              .apply = FixViewTarget,
              .example = R"(graph @g(%x: f32[N,S,12]) -> (%y) {
  #parts: i64[2] = (3, 4)
  %y = Reshape(%x, Concat(Shape(%x) {start=0, end=2}, #parts) {axis=0})
})"};
}

}  // namespace tern
