// Merges consecutive reductions. Rewrites sum(x) / n as a mean, where n is the number of summed elements.
#include <algorithm>

#include "passes/rewrite/facts.h"
#include "passes/rewrite/rule.h"
#include "passes/rewrite/set_attrs.h"

namespace tern {
namespace {

// Returns the reduced axes in ascending order, with negative axes replaced by axis + rank. Returns nullopt
// if the axes are not known.
std::optional<std::vector<int64_t>> AxesOf(const Node& reduce) {
  const int rank = reduce.input(0)->type.shape.rank();
  if (rank < 0) return std::nullopt;
  std::vector<int64_t> axes;
  if (reduce.input(1)) {
    const auto given = IntsOf(reduce.input(1));
    if (!given) return std::nullopt;
    for (int64_t a : *given) axes.push_back(a < 0 ? a + rank : a);
  }
  if (axes.empty() && !reduce.attrs.Bool("noop_if_empty"))
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  std::sort(axes.begin(), axes.end());
  return axes;
}

// `axes` are axes of a tensor from which the axes `dropped` were removed. Returns the same axes in the
// tensor before the removal. For example, if axis 0 was removed, axis 1 was axis 2 before.
std::vector<int64_t> BeforeDropping(std::vector<int64_t> axes, const std::vector<int64_t>& dropped) {
  for (int64_t& a : axes)
    for (int64_t d : dropped)
      if (a >= d) ++a;
  return axes;
}

bool Composes(const std::string& kind) {
  return kind == "sum" || kind == "mean" || kind == "max" || kind == "min" || kind == "prod";
}

bool Merge(Rewrite& r) {
  Node& outer = r.root();
  Value* x = outer.input(0);
  const std::string kind = KindName(outer);
  Node* inner = MadeBy(x, "Reduce", kind);
  if (!inner || !Composes(kind)) return r.Skip("the input is not made by a reduction of the same kind");
  if (!OnlyUse(x)) return r.Skip("'", x->name, "' is also read by another node");
  const auto first = AxesOf(*inner);
  auto second = AxesOf(outer);
  if (!first || !second || first->empty() || second->empty()) return r.Skip("the axes are not known");
  if (kind == "mean" && !IsFloatValue(x)) return r.Skip("the mean of integers is rounded each time");
  const bool keep = inner->attrs.Bool("keep_dims");
  if (keep != outer.attrs.Bool("keep_dims")) return r.Skip("only one of the two reductions keeps the dims");
  std::vector<int64_t> all = keep ? *second : BeforeDropping(*second, *first);
  all.insert(all.end(), first->begin(), first->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return r.Replace(r.Op("Reduce", {inner->input(0), r.Ints(all)}, {{"kind", kind}, {"keep_dims", keep}}));
}

// Replaces sum(x) / count and sum(x) * (1 / count) by a mean.
bool ToMean(Rewrite& r) {
  Node& root = r.root();
  const bool divides = IsOp(root, "Binary", "div");
  const int at = root.input(0)->is_constant() ? 0 : 1;
  if (divides && at == 0) return r.Skip("the constant is the dividend");
  Value* sum = root.input(1 - at);
  Node* reduce = MadeBy(sum, "Reduce", "sum");
  if (!reduce) return r.Skip("'", sum->name, "' is not a sum");
  if (!OnlyUse(sum)) return r.Skip("'", sum->name, "' is also read by another node");
  if (!IsFloatValue(sum)) return r.Skip("the type is not a float");
  const auto axes = AxesOf(*reduce);
  if (!axes) return r.Skip("the axes are not known");
  double count = 1;
  for (int64_t a : *axes) {
    const Dim& d = reduce->input(0)->type.shape[static_cast<int>(a)];
    if (!d.known() || d.value() == 0) return r.Skip("the number of elements is not known");
    count *= static_cast<double>(d.value());
  }
  if (!IsScalar(root.input(at), divides ? count : 1 / count))
    return r.Skip("the sum is not divided by the number of elements");
  Attrs attrs = reduce->attrs;
  SetAttr(attrs, "kind", "mean");
  return r.Replace(r.Op(*reduce->op, attrs, reduce->inputs()));
}

}  // namespace

TERN_RULE(MergeReduces) {
  return Rule{.summary = "the sum of sums, mean of means or maximum of maxima is one reduction",
              .roots = {"Reduce"},
              .apply = Merge,
              .example = R"(graph @g(%x: f32[N,C,H,W]) -> (%y) {
  #w: i64[1] = (3)  #h: i64[1] = (2)
  %y = ReduceMean(ReduceMean(%x, #w), #h)
})"};
}
TERN_RULE(ReplaceSumByMean) {
  return Rule{.summary = "a sum divided by the number of elements is a mean",
              .roots = {"Binary:mul", "Binary:div"},
              .apply = ToMean,
              .example = R"(graph @g(%x: f32[N,4]) -> (%y) {
  #a: i64[1] = (1)  #n: f32[] = (4)
  %y = ReduceSum(%x, #a) / #n
})"};
}

}  // namespace tern
