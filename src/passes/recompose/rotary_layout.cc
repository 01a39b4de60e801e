// Removes the nodes around RotaryEmbedding that split and rearrange heads. RotaryEmbedding itself can read
// [batch, length, heads*size]. If its attribute `size` is set, it rotates only the first `size` features of a
// head.
#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// True if v is elements [start, end) of x along its last axis.
bool IsLastAxisPart(const Value* v, const Value* x, int64_t start, int64_t end) {
  const auto part = ReadPart(v);
  return part && part->x == x && part->axis == x->type.shape.rank() - 1 && part->start == start &&
         part->end == end;
}

// The RotaryEmbedding that produces v, and its input x. If there is a view before and a view after the
// RotaryEmbedding, x is the input of the first view and v is the result of the second view.
struct Inner {
  Node* rotary = nullptr;
  Value* x = nullptr;
};

Inner InnerOf(Value* v) {
  if (!OnlyUse(v)) return {};
  if (Node* rotary = MadeBy(v, "RotaryEmbedding")) return {rotary, rotary->input(0)};
  const Node* view = MadeByView(v);
  Node* rotary = view && OnlyUse(view->input(0)) ? MadeBy(view->input(0), "RotaryEmbedding") : nullptr;
  const Node* before = rotary ? MadeByView(rotary->input(0)) : nullptr;
  if (!before || !SameShape(before->input(0), v)) return {};
  return {rotary, before->input(0)};
}

// Replaces concat(rotary(x[:size]), x[size:]).
bool FusePartialRotaryAt(Rewrite& r) {
  const Node& root = r.root();
  const int64_t axis = root.attrs.Int("axis");
  if (root.inputs().size() != 2 || (axis != -1 && axis != root.output(0)->type.shape.rank() - 1))
    return r.Skip("the Concat does not join two parts along the last axis");
  const Inner inner = InnerOf(root.input(0));
  if (!inner.rotary || inner.rotary->attrs.Int("size"))
    return r.Skip("the first part is not a RotaryEmbedding of all its features");
  const auto first = ReadPart(inner.x);
  if (!first || first->start != 0 || first->x->type.shape.rank() != 4 || !first->x->type.shape[-1].known())
    return r.Skip("the input of the RotaryEmbedding is not the first part of a value");
  Value* x = first->x;
  if (!IsLastAxisPart(inner.x, x, 0, first->end) ||
      !IsLastAxisPart(root.input(1), x, first->end, x->type.shape[-1].value()))
    return r.Skip("the second part is not the rest of the value");
  std::vector<Value*> inputs = inner.rotary->inputs();
  inputs[0] = x;
  const bool packed = inner.rotary->attrs.Int("heads") != 0;
  const Shape& s = x->type.shape;
  if (packed) inputs[0] = ViewAs(r, x, Shape({s[0], s[1], s[2] * s[3]}));
  if (!inputs[0]) return r.Skip("the heads cannot be packed");
  Value* y = r.Op(*inner.rotary->op, WithAttrs(inner.rotary->attrs, {{"size", first->end}}), inputs);
  if (packed) y = ViewAs(r, y, s);
  return y ? r.Replace(y) : r.Skip("the heads cannot be unpacked");
}

// Rewrites rotary(transpose(split(x))) as transpose(split(rotary(x))).
bool MoveSplitHeadsBehindRotaryAt(Rewrite& r) {
  const Node& root = r.root();
  const Node* transpose = MadeBy(root.input(0), "Transpose");
  if (!transpose || transpose->attrs.Ints("perm") != std::vector<int64_t>{0, 2, 1, 3} ||
      root.attrs.Int("heads"))
    return r.Skip("x is not made by a Transpose with perm=[0,2,1,3]");
  const Node* split = MadeBy(transpose->input(0), "Reshape");
  if (!split) return r.Skip("x is not split into heads");
  const Shape &x = split->input(0)->type.shape, &s = split->output(0)->type.shape;
  if (x.rank() != 3 || x[0] != s[0] || x[1] != s[1] || !s[2].known() || x[2] != s[2] * s[3])
    return r.Skip("x is not split into heads");
  std::vector<Value*> inputs = root.inputs();
  inputs[0] = split->input(0);
  Value* y = r.Op(*root.op, WithAttrs(root.attrs, {{"heads", s[2].value()}}), inputs);
  y = r.Op(*split->op, split->attrs, {y, split->input(1)});
  return r.Replace(r.Op(*transpose->op, transpose->attrs, {y}));
}

}  // namespace

TERN_RULE(FusePartialRotaryEmbedding) {
  return Rule{
      .summary =
          "RotaryEmbedding rotates only the first features itself, without a Split and a Concat around it",
      .level = Level::kExtended,
      .roots = {"Concat"},
      .apply = FusePartialRotaryAt,
      .example = R"(graph @partial(%x: f32[2,4,3,8], %c: f32[1,3,2], %s: f32[1,3,2]) -> (%y) {
  #sizes: i64[2] = (4, 4)
  %a, %b = Split(%x, #sizes) {axis=3}
  %y = Concat(RotaryEmbedding(%a, %c, %s), %b) {axis=3}
})"};
}

TERN_RULE(MoveSplitHeadsBehindRotaryEmbedding) {
  return Rule{.summary =
                  "a split into heads moves after RotaryEmbedding, which reads packed heads itself, so that "
                  "Attention can fuse it",
              .level = Level::kExtended,
              .roots = {"RotaryEmbedding"},
              .apply = MoveSplitHeadsBehindRotaryAt,
              .example = R"(graph @move(%x: f32[2,3,32], %c: f32[1,3,4], %s: f32[1,3,4]) -> (%y) {
  #shape: i64[4] = (2, 3, 4, 8)
  %h = Transpose(Reshape(%x, #shape)) {perm=[0,2,1,3]}
  %y = RotaryEmbedding(%h, %c, %s)
})"};
}

}  // namespace tern
