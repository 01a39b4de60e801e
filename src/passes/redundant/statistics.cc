// Removes statistics of norms that nothing reads.
#include <algorithm>

#include "passes/rewrite/rule.h"

namespace tern {
namespace {

bool RemoveUnreadStatistics(Rewrite& r) {
  const Node& node = r.root();
  const auto& outputs = node.outputs();
  if (outputs.size() < 2) return r.Skip("the node has one output");
  if (std::any_of(outputs.begin() + 1, outputs.end(), [](const Value* v) { return !v->unused(); }))
    return r.Skip("a statistic is read");
  std::vector<Value*> values(outputs.size());
  values[0] = r.Op(*node.op, node.attrs, node.inputs());
  return r.Replace(values);
}

}  // namespace

TERN_RULE(RemoveUnreadStatistics) {
  return Rule{
      .summary = "outputs for the mean and the deviation of a norm are removed if nothing reads them",
      .roots = {"LayerNorm"},
      .apply = RemoveUnreadStatistics,
      .example =
          R"(graph @g(%x: f32[N,4], %w: f32[4]) -> (%y) { %y, %mean, %deviation = LayerNorm(%x, %w) {epsilon=1e-5} })"};
}

}  // namespace tern
