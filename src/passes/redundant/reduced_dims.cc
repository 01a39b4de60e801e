// Some views after a reduction only remove the reduced dims, which have size 1, or insert them. The rules
// here remove such a view and change keep_dims of the reduction.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// Element i of the result is true if the node reduces axis i. Returns nullopt if the axes are not known.
std::optional<std::vector<bool>> ReducedAxes(const Node& node) {
  const Value* x = node.input(0);
  if (!x->type.shape.ranked) return std::nullopt;
  const auto rank = static_cast<size_t>(x->type.shape.rank());
  std::vector<bool> mask(rank, false);
  if (IsOp(node, "GlobalPool")) {
    const size_t first = ChannelsLast(node) ? 1 : 2;
    for (size_t i = first; i + 2 < rank + first; ++i) mask[i] = true;
    return mask;
  }
  std::vector<int64_t> axes;
  if (IsOp(node, "ArgReduce")) {
    axes = {node.attrs.Int("axis")};
  } else if (node.input(1)) {
    const auto given = IntsOf(node.input(1));
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (axes.empty()) return std::vector<bool>(rank, !node.attrs.Bool("noop_if_empty"));
  for (int64_t axis : axes) {
    const auto at = AxisOf(axis, x);
    if (!at) return std::nullopt;
    mask[static_cast<size_t>(*at)] = true;
  }
  return mask;
}

Shape Reduced(const Shape& x, const std::vector<bool>& mask, bool keep) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) dims.push_back(x.dims[i]);
    if (mask[i] && keep) dims.emplace_back(1);
  }
  return Shape(std::move(dims));
}

// Returns the kind of a Reduce that computes the same as the GlobalPool, or "" if there is none.
std::string ReduceKind(const Node& pool) {
  if (KindName(pool) == "max") return "max";
  if (KindName(pool) == "average") return "mean";
  const float p = pool.attrs.Float("p");
  return p == 1 ? "l1" : p == 2 ? "l2" : "";
}

Value* EmitReduce(Rewrite& r, const Node& node, const std::vector<bool>& mask, bool keep) {
  if (IsOp(node, "GlobalPool")) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < mask.size(); ++i)
      if (mask[i]) axes.push_back(static_cast<int64_t>(i));
    return r.Op("Reduce", {node.input(0), r.Ints(axes)}, {{"kind", ReduceKind(node)}, {"keep_dims", keep}});
  }
  return r.Op(*node.op, WithAttrs(node.attrs, {{"keep_dims", keep}}), node.inputs());
}

// A reduction whose attribute keep_dims can be changed.
struct Toggled {
  const Node* node;
  std::vector<bool> mask;  // the reduced dims
  bool kept;               // keep_dims before the change
};

// Returns the reduction that produces v. With the opposite keep_dims, its result must have the shape `to`.
// Otherwise calls Skip with the reason and returns nullopt.
std::optional<Toggled> ToggleInto(Rewrite& r, const Value* v, const Shape& to) {
  const auto no = [&](const char* reason) {
    r.Skip(reason);
    return std::nullopt;
  };
  const Node* node = v->producer;
  if (!node || !(IsOp(*node, "Reduce") || IsOp(*node, "ArgReduce") || IsOp(*node, "GlobalPool")))
    return no("its input is not made by a reduction");
  if (!OnlyUse(v)) return no("the reduction is also read by another node");
  const auto mask = ReducedAxes(*node);
  if (!mask) return no("the axes are not known");
  const bool pool = IsOp(*node, "GlobalPool");
  if (pool && (ReduceKind(*node).empty() || mask->size() < 3))
    return no("no Reduce kind computes the same as the pooling");
  const bool kept = pool || node->attrs.Bool("keep_dims");
  if (!(Reduced(node->input(0)->type.shape, *mask, !kept) == to))
    return no("other dims than the reduced ones change");
  return Toggled{node, *mask, kept};
}

bool MergeReduceView(Rewrite& r) {
  const auto found = ToggleInto(r, r.root().input(0), r.root().output(0)->type.shape);
  return found && r.Replace(EmitReduce(r, *found->node, found->mask, !found->kept));
}

// `axis` is an axis of the result of the reduction. Returns its index after keep_dims is changed, or nullopt
// if the axis is a reduced one.
std::optional<int64_t> ToggledAxis(const Toggled& reduction, int axis) {
  int with = 0, without = 0;
  for (const bool reduced : reduction.mask) {
    if ((reduction.kept ? with : without) == axis && !(reduced && !reduction.kept))
      return reduced ? std::nullopt : std::optional<int64_t>(reduction.kept ? without : with);
    ++with;
    without += !reduced;
  }
  return std::nullopt;
}

bool MoveViewBeforeSoftmax(Rewrite& r) {
  const Value* y = r.root().input(0);
  const Node* softmax = MadeBy(y, "Softmax");
  if (!softmax) return r.Skip("its input is not made by Softmax");
  if (!OnlyUse(y)) return r.Skip("the result of Softmax is also read by another node");
  const auto found = ToggleInto(r, softmax->input(0), r.root().output(0)->type.shape);
  if (!found) return false;
  const auto axis = AxisOf(softmax->attrs.Int("axis"), y);
  const auto new_axis = axis ? ToggledAxis(*found, *axis) : std::nullopt;
  if (!new_axis) return r.Skip("the axis of Softmax is a reduced one");
  Attrs attrs = WithAttrs(softmax->attrs, {{"axis", *new_axis}});
  return r.Replace(
      r.Op(*softmax->op, std::move(attrs), {EmitReduce(r, *found->node, found->mask, !found->kept)}));
}

}  // namespace

TERN_RULE(MergeReduceView) {
  return Rule{
      .summary =
          "a Reshape, Flatten, Squeeze or Unsqueeze after a reduction or global pooling is removed if it only "
          "drops or restores the reduced dims; the reduction changes keep_dims instead",
      .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
      .apply = MergeReduceView,
      .example = R"(graph @g(%x: f32[N,8,7,7]) -> (%y) { %y = Flatten(GlobalAverage(%x)) {axis=1} })"};
}

TERN_RULE(MoveViewBeforeSoftmax) {
  return Rule{.summary =
                  "a view after a reduction and a Softmax is removed if it only drops or restores the "
                  "reduced dims; the reduction changes keep_dims instead",
              .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
              .apply = MoveViewBeforeSoftmax,
              .example = R"(graph @g(%x: f32[N,8,7,7]) -> (%y) {
  %y = Flatten(Softmax(GlobalAverage(%x)) {axis=1}) {axis=1}
})"};
}

}  // namespace tern
