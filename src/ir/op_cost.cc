#include "ir/op_cost.h"

#include "ir/graph.h"

namespace tern {

std::optional<double> ElementsOf(const Value* v) {
  if (!v) return 0;
  if (!v->type.tensor() || !v->type.shape.fully_known()) return std::nullopt;
  double count = 1;
  for (const Dim& d : v->type.shape.dims) count *= static_cast<double>(d.value());
  return count;
}

std::optional<double> DimOf(const Value* v, int axis) {
  if (!v || !v->type.shape.ranked) return std::nullopt;
  const int rank = v->type.shape.rank(), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank || !v->type.shape[at].known()) return std::nullopt;
  return static_cast<double>(v->type.shape[at].value());
}

std::optional<double> Times(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional<double>(*a * *b) : std::nullopt;
}

std::function<CountRule> PerOutput(double flops) {
  return [flops](const Node& n) { return Times(ElementsOf(n.output(0)), flops); };
}
std::function<CountRule> PerInput(double flops) {
  return [flops](const Node& n) { return Times(ElementsOf(n.input(0)), flops); };
}

std::optional<double> MacsOf(const Node& node) { return node.op->macs ? node.op->macs(node) : 0; }

}  // namespace tern
