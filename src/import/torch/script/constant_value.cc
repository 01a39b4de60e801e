#include "import/torch/script/constant_value.h"

#include "ir/evaluate.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxNodes = 64;
constexpr int64_t kMaxElements = 1 << 16;

std::optional<Tensor> Evaluate(const Value& value, int& nodes_left) {
  if (value.is_constant())
    return value.constant.size() <= kMaxElements ? std::optional(value.constant) : std::nullopt;
  const Node* node = value.producer;
  if (!node || --nodes_left < 0 || !node->subgraphs().empty() || !(node->op->traits & kPure)) return {};
  std::vector<Datum> inputs;
  for (const Value* input : node->inputs()) {
    if (!input) {
      inputs.emplace_back();
      continue;
    }
    const std::optional<Tensor> tensor = Evaluate(*input, nodes_left);
    if (!tensor) return {};
    inputs.emplace_back(*tensor);
  }
  std::vector<const Datum*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i)
    pointers.push_back(node->input(static_cast<int>(i)) ? &inputs[i] : nullptr);
  const auto outputs = EvaluateNode(*node, pointers);
  if (!outputs.ok()) return {};
  const Datum& datum = (*outputs)[static_cast<size_t>(value.output)];
  if (!datum.is_tensor() || datum.tensor.size() > kMaxElements) return {};
  return datum.tensor;
}

}  // namespace

std::optional<Tensor> ConstantValue(const Value& value) {
  int nodes_left = kMaxNodes;
  return Evaluate(value, nodes_left);
}

}  // namespace tern::torch::script
