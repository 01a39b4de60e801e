#include "passes/rewrite/constants.h"

#include <algorithm>
#include <cstdint>

#include "ir/evaluate.h"
#include "passes/rewrite/quick_binary.h"

namespace tern {

bool IsConstantNode(const Node& node) {
  return node.op->Is(kPure) && !node.op->Is(kRandom) && node.subgraphs().empty() &&
         std::all_of(node.inputs().begin(), node.inputs().end(),
                     [](const Value* v) { return !v || v->is_constant(); });
}

double WorkOf(const Node& node) {
  // The operations per element of the result. The number is high, because reference evaluators load and
  // store elements one by one.
  constexpr double kSteps = 16;
  if (node.op->macs)
    if (const auto macs = node.op->macs(node)) return *macs;
  double elements = 0;
  for (const Value* v : node.outputs())
    if (v->type.tensor() && v->type.shape.fully_known())
      elements +=
          static_cast<double>(CheckedCount(v->type.shape.Concrete(), v->type.dtype).value_or(INT64_MAX));
  return elements * kSteps;
}

Result<std::optional<std::vector<Tensor>>> EvaluateConstantNode(const Node& node) {
  if (auto quick = QuickBinary(node)) return std::make_optional(std::vector<Tensor>{std::move(*quick)});
  DatumList held(node.inputs().size());
  std::vector<const Datum*> data(held.size());
  for (size_t i = 0; i < held.size(); ++i) {
    if (!node.inputs()[i]) continue;
    held[i] = Datum(node.inputs()[i]->constant);
    data[i] = &held[i];
  }
  TERN_ASSIGN(const DatumList made, EvaluateNode(node, data));
  std::vector<Tensor> tensors;
  for (const Datum& d : made) {
    if (!d.is_tensor()) return std::optional<std::vector<Tensor>>();
    tensors.push_back(d.tensor);
  }
  return std::make_optional(std::move(tensors));
}

}  // namespace tern
