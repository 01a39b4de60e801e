#include "passes/widen/half_node.h"

#include <algorithm>

#include "ir/infer_context.h"

namespace tern {
namespace {

bool OnlyTensors(const Node& node) {
  const auto tensor = [](const Value* v) { return !v || v->type.tensor(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), tensor) &&
         std::all_of(node.outputs().begin(), node.outputs().end(), tensor);
}

}  // namespace

bool IsHalf(const Type& type) {
  return type.tensor() && (type.dtype == DType::kF16 || type.dtype == DType::kBF16);
}

bool StaysHalf(const Node& node) {
  return *node.op->half == HalfRule::kKeep || !OnlyTensors(node) || !node.subgraphs().empty();
}

bool AcceptsF32(const Node& node) {
  std::vector<InferInput> inputs;
  for (const Value* v : node.inputs()) {
    InferInput in;
    if (v) in = {true, v->type, v->constant, v->content};
    if (v && IsHalf(v->type)) in.type.dtype = DType::kF32, in.constant = Tensor();
    inputs.push_back(std::move(in));
  }
  InferContext context(*node.op, std::move(inputs), static_cast<int>(node.outputs().size()));
  if (!RunInfer(*node.op, node.attrs, context).ok()) return false;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    const Type &before = node.outputs()[i]->type, &after = context.outputs()[i].type;
    if (before.kind != after.kind || after.dtype != (IsHalf(before) ? DType::kF32 : before.dtype))
      return false;
  }
  return true;
}

bool ComputesInHalf(const Node& node) {
  const auto half = [](const Value* v) { return v && IsHalf(v->type); };
  const auto real = [](const Value* v) { return v->type.tensor() && IsFloat(v->type.dtype); };
  // A node with f32 results computes in f32. Its f16 inputs are only stored in f16, as scales of weights are.
  if (std::any_of(node.outputs().begin(), node.outputs().end(), real) &&
      std::none_of(node.outputs().begin(), node.outputs().end(), half))
    return false;
  return *node.op->half == HalfRule::kWiden &&
         std::any_of(node.inputs().begin(), node.inputs().end(), half) && !StaysHalf(node) &&
         AcceptsF32(node);
}

}  // namespace tern
