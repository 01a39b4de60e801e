// Recomposes SpaceToDepth and DepthToSpace.
#include <algorithm>

#include "passes/redundant/parts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

using Perm = std::vector<int64_t>;

// Describes Reshape(Transpose(Reshape(x))). The Transpose has six axes. x and the result are [batch,
// channels, height, width].
struct SixAxes {
  Value* x = nullptr;
  Shape before, split, after;
  Perm perm;
};

std::optional<SixAxes> SixAxesAt(const Node& root) {
  const Node* transpose = MadeBy(root.input(0), "Transpose");
  const Node* split = transpose ? MadeByView(transpose->input(0)) : nullptr;
  if (!split || !OnlyUse(root.input(0)) || !OnlyUse(transpose->input(0))) return std::nullopt;
  SixAxes s{split->input(0), split->input(0)->type.shape, split->output(0)->type.shape,
            root.output(0)->type.shape, transpose->attrs.Ints("perm")};
  if (s.before.rank() != 4 || s.split.rank() != 6 || s.after.rank() != 4) return std::nullopt;
  if (s.before[0] != s.split[0] || s.before[0] != s.after[0]) return std::nullopt;
  return s;
}

// Returns the side of the square block whose rows and columns are the axes `rows` and `columns` of `split`.
// Returns nullopt if the block is not square.
std::optional<int64_t> BlockOf(const Shape& split, int rows, int columns) {
  if (!split[rows].known() || split[rows] != split[columns] || split[rows].value() < 2) return std::nullopt;
  return split[rows].value();
}

bool RecomposeDepthToSpaceAt(Rewrite& r) {
  const auto s = SixAxesAt(r.root());
  if (!s) return r.Skip("the node is not a Transpose of six axes between Reshapes of four axes");
  const bool crd = s->perm == Perm{0, 1, 4, 2, 5, 3}, dcr = s->perm == Perm{0, 3, 4, 1, 5, 2};
  if (!crd && !dcr) return r.Skip("the Transpose has another order of axes");
  const auto block = crd ? BlockOf(s->split, 2, 3) : BlockOf(s->split, 1, 2);
  const Dim& depth = s->split[crd ? 1 : 3];
  if (!block || s->split[4] != s->before[2] || s->split[5] != s->before[3])
    return r.Skip("the block is not square");
  const Dim b(*block);
  if (s->before[1] != depth * b * b || s->after[1] != depth || s->after[2] != s->before[2] * b ||
      s->after[3] != s->before[3] * b)
    return r.Skip("the channels do not become pixels");
  return r.Replace(
      r.Op("DepthToSpace", {s->x}, {{"block", *block}, {"mode", std::string(crd ? "CRD" : "DCR")}}));
}

bool RecomposeSpaceToDepthAt(Rewrite& r) {
  const auto s = SixAxesAt(r.root());
  if (!s) return r.Skip("the node is not a Transpose of six axes between Reshapes of four axes");
  if (s->perm != Perm{0, 3, 5, 1, 2, 4}) return r.Skip("the Transpose has another order of axes");
  const auto block = BlockOf(s->split, 3, 5);
  if (!block || s->split[1] != s->before[1]) return r.Skip("the block is not square");
  const Dim b(*block);
  if (s->before[2] != s->split[2] * b || s->before[3] != s->split[4] * b || s->after[2] != s->split[2] ||
      s->after[3] != s->split[4] || s->after[1] != s->before[1] * b * b)
    return r.Skip("the pixels do not become channels");
  return r.Replace(r.Op("SpaceToDepth", {s->x}, {{"block", *block}}));
}

// Describes x[:, :, start[0]::step[0], start[1]::step[1]], which one or two Slices make.
struct Grid {
  Value* x = nullptr;
  int64_t start[2] = {0, 0}, step[2] = {1, 1};
};

std::optional<Grid> GridOf(Value* v) {
  Grid grid{v};
  for (int depth = 0; depth < 2; ++depth) {
    const Node* slice = MadeBy(grid.x, "Slice");
    const auto axes = slice ? ReadSlice(*slice) : std::nullopt;
    if (!axes) break;
    const Shape& s = slice->input(0)->type.shape;
    for (const SliceAxis& a : *axes) {
      const int i = a.axis - 2;
      const bool to_end = a.end >= kFarBound || (s[a.axis].known() && a.end >= s[a.axis].value());
      if (i < 0 || i > 1 || grid.step[i] != 1 || a.start < 0 || a.step < 2 || !to_end) return std::nullopt;
      grid.start[i] = a.start, grid.step[i] = a.step;
    }
    grid.x = slice->input(0);
  }
  return grid;
}

// Replaces a Concat of strided slices by SpaceToDepth, if every pixel is in one of the slices. Adds a Gather
// if the order of the channels differs.
bool RecomposeFocusAt(Rewrite& r) {
  const Node& root = r.root();
  if (root.attrs.Int("axis") != 1 || root.output(0)->type.shape.rank() != 4 || root.inputs().size() < 4)
    return r.Skip("the inputs are not images joined along the channels");
  const auto first = GridOf(root.input(0));
  if (!first || first->x->type.shape.rank() != 4 || !first->x->type.shape[1].known())
    return r.Skip("the parts are not strided slices");
  const int64_t block = first->step[0], channels = first->x->type.shape[1].value();
  if (block < 2 || static_cast<int64_t>(root.inputs().size()) != block * block)
    return r.Skip("the parts are not all pixels of a block");
  std::vector<int64_t> order, seen(static_cast<size_t>(block * block), 0);
  for (Value* v : root.inputs()) {
    const auto grid = GridOf(v);
    if (!grid || grid->x != first->x || grid->step[0] != block || grid->step[1] != block ||
        grid->start[0] >= block || grid->start[1] >= block)
      return r.Skip("the parts are not strided slices of one image");
    const int64_t position = grid->start[0] * block + grid->start[1];
    if (seen[static_cast<size_t>(position)]++) return r.Skip("a part occurs twice");
    for (int64_t c = 0; c < channels; ++c) order.push_back(position * channels + c);
  }
  Value* y = r.Op("SpaceToDepth", {first->x}, {{"block", block}});
  if (!std::is_sorted(order.begin(), order.end()))
    y = r.Op("Gather", {y, r.Ints(order)}, {{"axis", int64_t{1}}});
  return r.Replace(y);
}

// Replaces Conv(Gather(x, order)) by a Conv of x with reordered weights.
bool FuseChannelOrderAt(Rewrite& r) {
  const Node& conv = r.root();
  const Node* gather = MadeBy(conv.input(0), "Gather");
  if (!gather || !OnlyUse(conv.input(0)) || gather->attrs.Int("axis") != 1)
    return r.Skip("the input is not a Gather of channels that is read nowhere else");
  const auto order = IntsOf(gather->input(1));
  const Shape& x = gather->input(0)->type.shape;
  if (!order || gather->input(1)->type.shape.rank() != 1 || !conv.input(1)->is_constant() ||
      conv.attrs.Int("group") != 1 || x.rank() < 3 || !x[1].Is(static_cast<int64_t>(order->size())))
    return r.Skip("the indices are not a permutation of all channels, or the weights are not constant");
  Perm inverse(order->size(), -1);
  for (size_t i = 0; i < order->size(); ++i) {
    const int64_t at = (*order)[i];
    if (at < 0 || at >= static_cast<int64_t>(order->size()) || inverse[static_cast<size_t>(at)] >= 0)
      return r.Skip("the indices are not a permutation of all channels");
    inverse[static_cast<size_t>(at)] = static_cast<int64_t>(i);
  }
  std::vector<Value*> inputs = conv.inputs();
  inputs[0] = gather->input(0);
  inputs[1] = r.Op("Gather", {conv.input(1), r.Ints(inverse)}, {{"axis", int64_t{1}}});
  return r.Replace(r.Op(*conv.op, conv.attrs, inputs));
}

}  // namespace

TERN_RULE(RecomposeDepthToSpace) {
  return Rule{
      .summary =
          "channels that become pixels by reshape, transpose, reshape (pixel shuffle) are DepthToSpace",
      .level = Level::kExtended,
      .roots = {"Reshape"},
      .apply = RecomposeDepthToSpaceAt,
      .example = R"(graph @shuffle(%x: f32[1,8,3,3]) -> (%y) {
  #split: i64[6] = (1, 2, 2, 2, 3, 3)  #shape: i64[4] = (1, 2, 6, 6)
  %y = Reshape(Transpose(Reshape(%x, #split)) {perm=[0,1,4,2,5,3]}, #shape)
})"};
}

TERN_RULE(RecomposeSpaceToDepth) {
  return Rule{.summary = "pixels that become channels by reshape, transpose, reshape are SpaceToDepth",
              .level = Level::kExtended,
              .roots = {"Reshape"},
              .apply = RecomposeSpaceToDepthAt,
              .example = R"(graph @unshuffle(%x: f32[1,2,6,6]) -> (%y) {
  #split: i64[6] = (1, 2, 3, 2, 3, 2)  #shape: i64[4] = (1, 8, 3, 3)
  %y = Reshape(Transpose(Reshape(%x, #split)) {perm=[0,3,5,1,2,4]}, #shape)
})"};
}

TERN_RULE(RecomposeFocus) {
  return Rule{.summary = "a Concat of strided Slices along the channels (YOLO's Focus) is SpaceToDepth",
              .level = Level::kExtended,
              .roots = {"Concat"},
              .apply = RecomposeFocusAt,
              .example = R"(graph @focus(%x: f32[1,3,8,8]) -> (%y) {
  #s00: i64[2] = (0, 0)  #s10: i64[2] = (1, 0)  #s01: i64[2] = (0, 1)  #s11: i64[2] = (1, 1)
  #end: i64[2] = (8, 8)  #axes: i64[2] = (2, 3)  #steps: i64[2] = (2, 2)
  %a = Slice(%x, #s00, #end, #axes, #steps)
  %b = Slice(%x, #s10, #end, #axes, #steps)
  %c = Slice(%x, #s01, #end, #axes, #steps)
  %d = Slice(%x, #s11, #end, #axes, #steps)
  %y = Concat(%a, %b, %c, %d) {axis=1}
})"};
}

TERN_RULE(FuseChannelOrderIntoConv) {
  return Rule{
      .summary =
          "a Gather that reorders channels before a Conv is removed, and the weights are reordered instead",
      .level = Level::kExtended,
      .roots = {"Conv"},
      .apply = FuseChannelOrderAt,
      .example = R"(graph @order(%x: f32[1,3,8,8]) -> (%y) {
  #order: i64[3] = (2, 0, 1)  #w: f32[1,3,1,1] = (1, 2, 3)
  %y = Conv(Gather(%x, #order) {axis=1}, #w)
})"};
}

}  // namespace tern
