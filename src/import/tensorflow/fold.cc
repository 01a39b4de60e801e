#include "import/tensorflow/fold.h"

#include <algorithm>

#include "ir/evaluate.h"

namespace tern::tensorflow {
namespace {

constexpr int64_t kMaxElements = 1 << 16;

// Returns the elements that inference found, as a tensor. Returns nullopt if not all of them are numbers.
std::optional<Tensor> FromContent(const Value& v) {
  if (!v.content || !v.type.tensor() || !v.type.shape.fully_known() || v.type.shape.rank() > 1)
    return std::nullopt;
  if (!IsInt(v.type.dtype) && v.type.dtype != DType::kBool) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const Dim& d : *v.content) {
    if (!d.known()) return std::nullopt;
    numbers.push_back(d.value());
  }
  Tensor t(v.type.dtype, v.type.shape.Concrete());
  if (t.size() != static_cast<int64_t>(numbers.size())) return std::nullopt;
  FromLongs(numbers, t);
  return t;
}

bool SmallResult(const Value& v) {
  if (!v.type.tensor() || !v.type.shape.fully_known() || v.type.dtype == DType::kInvalid) return false;
  const auto count = CheckedCount(v.type.shape.Concrete(), v.type.dtype);
  return count && *count <= kMaxElements;
}

std::optional<Tensor> Evaluated(const Value& v) {
  const Node& node = *v.producer;
  if (!node.op->Is(kPure) || node.op->Is(kRandom) || !node.subgraphs().empty()) return std::nullopt;
  if (!SmallResult(v)) return std::nullopt;
  DatumList data;
  for (const Value* in : node.inputs()) {
    if (in && (!in->is_constant() || in->constant.size() > kMaxElements)) return std::nullopt;
    data.push_back(in ? Datum(in->constant) : Datum());
  }
  std::vector<const Datum*> inputs;
  for (size_t i = 0; i < data.size(); ++i) inputs.push_back(node.inputs()[i] ? &data[i] : nullptr);
  auto results = EvaluateNode(node, inputs);
  if (!results.ok() || results->size() != 1 || !(*results)[0].is_tensor()) return std::nullopt;
  return (*results)[0].tensor;
}

}  // namespace

Value* Fold(Value* value) {
  Node* node = value->producer;
  if (!node || node->outputs().size() != 1) return value;
  auto known = FromContent(*value);
  if (!known) known = Evaluated(*value);
  if (!known) return value;
  Graph& graph = *value->graph;
  Value* constant = graph.AddConstant(known->Contiguous(), value->name);
  graph.RemoveNode(node);
  return constant;
}

}  // namespace tern::tensorflow
