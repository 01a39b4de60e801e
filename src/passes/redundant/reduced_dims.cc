// Dims of size 1 that a reduction leaves behind only to have them taken away, or the other way round.
#include <algorithm>

#include "passes/rewrite/rule.h"
#include "passes/rewrite/views.h"

namespace tern {
namespace {

// Which dims of its input a node reduces; nothing when that is not known.
std::optional<std::vector<bool>> ReducedAxes(const Node& node) {
  const Value* x = node.input(0);
  if (!x->type.shape.ranked) return std::nullopt;
  const auto rank = static_cast<size_t>(x->type.shape.rank());
  std::vector<bool> mask(rank, false);
  if (IsOp(node, "GlobalPool")) {
    for (size_t i = 2; i < rank; ++i) mask[i] = true;
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

// The reduction that a GlobalPool is.
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
  Attrs attrs = node.attrs;
  const Status status = attrs.Set("keep_dims", keep);
  TERN_CHECK(status.ok(), status.message());
  return r.Op(*node.op, attrs, node.inputs());
}

bool MergeReduceView(Rewrite& r) {
  const Value* v = r.root().input(0);
  const Node* node = v->producer;
  if (!node || !(IsOp(*node, "Reduce") || IsOp(*node, "ArgReduce") || IsOp(*node, "GlobalPool")))
    return r.Skip("its input is not made by a reduction");
  if (!OnlyUse(v)) return r.Skip("the reduction is also read by others");
  const auto mask = ReducedAxes(*node);
  if (!mask) return r.Skip("the axes are not known");
  const bool pool = IsOp(*node, "GlobalPool");
  if (pool && (ReduceKind(*node).empty() || mask->size() < 3)) return r.Skip("the pooling is no reduction");
  const bool kept = pool || node->attrs.Bool("keep_dims");
  if (!(Reduced(node->input(0)->type.shape, *mask, !kept) == r.root().output(0)->type.shape))
    return r.Skip("other dims than the reduced ones change");
  return r.Replace(EmitReduce(r, *node, *mask, !kept));
}

}  // namespace

TERN_RULE(MergeReduceView) {
  return Rule{
      .summary =
          "a Reshape, Flatten, Squeeze or Unsqueeze that takes away or puts back the dims that a "
          "reduction or global pooling before it has reduced: the reduction does that itself",
      .roots = {"Reshape", "Squeeze", "Unsqueeze", "Flatten"},
      .apply = MergeReduceView,
      .example = R"(graph @g(%x: f32[N,8,7,7]) -> (%y) { %y = Flatten(GlobalAverage(%x)) {axis=1} })"};
}

}  // namespace tern
