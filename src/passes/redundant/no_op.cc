// Removes ops whose parameters make them do nothing, such as a Pad of width 0.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool AllAre(const std::vector<int64_t>& list, int64_t v) {
  return std::all_of(list.begin(), list.end(), [v](int64_t i) { return i == v; });
}

bool AllKnownAs(const Value* v, int64_t number) {
  const auto content = ContentOf(v);
  return content && std::all_of(content->begin(), content->end(), [&](const Dim& d) { return d.Is(number); });
}

bool SameShapes(const Match& m) { return SameType(m.At("x"), m.At("y")) || m.Skip("the shapes may differ"); }

bool UnitPool(const Match& m) {
  const Attrs& a = m.AttrsOf("pool");
  if (a.Text("kind") == "lp") return m.Skip("a p-norm drops the sign");
  if (!AllAre(a.Ints("kernel"), 1)) return m.Skip("the window is larger than 1");
  if (!AllAre(a.Ints("strides"), 1)) return m.Skip("the strides are not 1");
  return AllAre(a.Ints("pads"), 0) || m.Skip("there are pads");
}

// A sum, mean, maximum, minimum or product over dims of size 1 is the element itself.
bool RemoveUnitReduce(Rewrite& r) {
  const Node& node = r.root();
  const std::string kind = KindName(node);
  if (kind != "sum" && kind != "mean" && kind != "max" && kind != "min" && kind != "prod")
    return r.Skip(kind, " of a single element differs from the element");
  Value* x = node.input(0);
  if (!x->type.shape.ranked) return r.Skip("the rank is not known");
  const bool given = node.input(1) != nullptr;
  const auto axes = given ? IntsOf(node.input(1)) : std::vector<int64_t>();
  if (!axes) return r.Skip("the axes are not constant");
  std::vector<int64_t> list = *axes;
  if (list.empty() && !node.attrs.Bool("noop_if_empty"))
    for (int i = 0; i < x->type.shape.rank(); ++i) list.push_back(i);
  for (int64_t axis : list) {
    const auto at = AxisOf(axis, x);
    if (!at || !x->type.shape[*at].Is(1)) return r.Skip("axis ", axis, " may have more than one element");
  }
  if (list.empty() || node.attrs.Bool("keep_dims")) return r.Replace(x);
  return r.Replace(r.Op("Squeeze", {x, r.Ints(list)}));
}

}  // namespace

TERN_RULE(RemoveSingleConcat) {
  return Rule{.summary = "a Concat of one input is removed", .match = {"%y = Concat(%x)"}, .emit = "%y = %x"};
}

TERN_RULE(RemoveSingleSplit) {
  return Rule{.summary = "a Split into one output is removed",
              .match = {"%y = Split(%x, %sizes?)"},
              .emit = "%y = %x",
              .when = SameShapes};
}

TERN_RULE(RemoveSameExpand) {
  return Rule{.summary = "an Expand to the dims of its input is removed",
              .match = {"%y = Expand(%x, %shape)"},
              .emit = "%y = %x",
              .when = SameShapes};
}

TERN_RULE(RemoveTileOnce) {
  return Rule{.summary = "a Tile with all repeats 1 is removed",
              .match = {"%y = Tile(%x, %repeats)"},
              .emit = "%y = %x",
              .when = [](const Match& m) {
                return AllKnownAs(m.At("repeats"), 1) || m.Skip("the repeats are not known to be 1");
              }};
}

TERN_RULE(RemoveEmptyPad) {
  return Rule{.summary = "a Pad of width 0 is removed",
              .match = {"%y = Pad(%x, %pads, %value?, %axes?)"},
              .emit = "%y = %x",
              .when = [](const Match& m) {
                return AllKnownAs(m.At("pads"), 0) || m.Skip("the pads are not known to be 0");
              }};
}

TERN_RULE(RemoveUnitPool) {
  return Rule{.summary = "pooling with a window of 1 and strides of 1 is removed",
              .match = {"%y = Pool(%x) {@pool}"},
              .emit = "%y = %x",
              .when = UnitPool};
}

TERN_RULE(RemoveUnitReduce) {
  return Rule{
      .summary = "a sum, mean, product, max or min over dims of size 1 is removed, or becomes a Squeeze",
      .roots = {"Reduce"},
      .apply = RemoveUnitReduce,
      .example = R"(graph @g(%x: f32[N,4,1,1]) -> (%y) {
  #axes: i64[2] = (2, 3)
  %y = Relu(ReduceMean(%x, #axes) {keep_dims=true})
})"};
}

}  // namespace tern
