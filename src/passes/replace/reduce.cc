// Replaces a Reduce by a global pooling or a sum of squares that computes the same.
#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"

namespace tern {
namespace {

// Replaces the mean or maximum over all spatial axes of an image by global pooling.
bool ToGlobalPool(Rewrite& r) {
  const Node& reduce = r.root();
  const Value* x = reduce.input(0);
  const int rank = x->type.shape.rank();
  if (rank < 4) return r.Skip("the reduction is not of an image");
  if (!reduce.attrs.Bool("keep_dims")) return r.Skip("the dims are dropped");
  if (!IsFloatValue(x)) return r.Skip("the type is not a float");
  const auto axes = IntsOf(reduce.input(1));
  if (!axes) return r.Skip("the axes are not known");
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t a : *axes) reduced[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  for (int i = 0; i < rank; ++i)
    if (reduced[static_cast<size_t>(i)] != (i >= 2))
      return r.Skip("the axes are not exactly the spatial axes");
  const std::string kind = KindName(reduce) == "mean" ? "average" : "max";
  return r.Replace(r.Op("GlobalPool", {reduce.input(0)}, {{"kind", kind}}));
}

}  // namespace

TERN_RULE(ReplaceReduceByGlobalPool) {
  return Rule{.summary = "the mean or maximum over all spatial axes is global pooling",
              .level = Level::kExtended,
              .roots = {"Reduce:mean", "Reduce:max"},
              .apply = ToGlobalPool,
              .example = R"(graph @g(%x: f32[N,C,H,W]) -> (%y) {
  #axes: i64[2] = (2, 3)
  %y = ReduceMean(%x, #axes)
})"};
}
TERN_RULE(ReplaceSumOfProducts) {
  return Rule{
      .summary = "the sum of x * x is a sum of squares",
      .level = Level::kExtended,
      .match = {"%y = ReduceSum(%x * %x, %axes?) {keep_dims=@keep, noop_if_empty=@noop}",
                "%y = ReduceSum(Pow(%x, 2), %axes?) {keep_dims=@keep, noop_if_empty=@noop}"},
      .emit = "%y = ReduceSumSquare(%x, %axes?) {keep_dims=@keep, noop_if_empty=@noop}",
      .when = [](const Match& m) { return IsFloatValue(m.At("x")) || m.Skip("the type is not a float"); }};
}

}  // namespace tern
