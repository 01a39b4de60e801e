#include "node_values.h"

#include <algorithm>
#include <string>

#include "ir/evaluate.h"
#include "ops/support/epilogue.h"

namespace tern {
namespace {

bool HasActivation(const Node& node) {
  return node.op->macs && node.attrs.Has("activation") && node.attrs.Text("activation") != "none" &&
         node.output(0)->type.dtype != DType::kInvalid && IsFloat(node.output(0)->type.dtype);
}

void RemoveActivations(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (HasActivation(*node)) TERN_CHECK(node->attrs.Set("activation", "none").ok());
    for (const auto& body : node->subgraphs()) RemoveActivations(*body);
  }
}

}  // namespace

NodeValues::NodeValues(const Graph& graph, const DatumList& inputs) : twin_(graph.Clone()) {
  for (size_t i = 0; i < inputs.size(); ++i) values_[graph.inputs()[i]] = inputs[i];
  RemoveActivations(*twin_);
  Pair(graph, *twin_);
}

void NodeValues::Pair(const Graph& graph, const Graph& twin) {
  auto other = twin.nodes().begin();
  for (const auto& node : graph.nodes()) {
    twins_[node.get()] = other->get();
    for (size_t i = 0; i < node->subgraphs().size(); ++i)
      Pair(*node->subgraphs()[i], *(*other)->subgraphs()[i]);
    ++other;
  }
}

void NodeValues::Add(const Node& node, const DatumList& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) values_[node.outputs()[i]] = outputs[i];
}

std::optional<Datum> NodeValues::Find(const Value& v) const {
  if (v.is_constant()) return Datum(v.constant);
  const auto found = values_.find(&v);
  return found == values_.end() ? std::nullopt : std::optional<Datum>(found->second);
}

std::optional<DatumList> NodeValues::InputsOf(const Node& node) const {
  DatumList inputs;
  for (const Value* v : node.inputs()) {
    const auto value = v ? Find(*v) : Datum();
    if (!value) return std::nullopt;
    inputs.push_back(*value);
  }
  return inputs;
}

std::optional<Tensor> NodeValues::SumsOf(const Node& node) const {
  if (!HasActivation(node)) return std::nullopt;
  const auto inputs = InputsOf(node);
  if (!inputs) return std::nullopt;
  const auto sums = EvaluateOn(*twins_.at(&node), *inputs);
  return sums.ok() ? std::optional<Tensor>((*sums)[0].tensor.Clone()) : std::nullopt;
}

void NodeValues::Activate(const Node& node, const Tensor& sums, const Tensor& output) {
  const auto& names = EpilogueNames();
  const std::string name = node.attrs.Text("activation");
  const auto kind = static_cast<Epilogue>(
      std::find_if(names.begin(), names.end(), [&](const char* other) { return name == other; }) -
      names.begin());
  const double alpha = node.attrs.Float("act_alpha"), beta = node.attrs.Float("act_beta");
  Tensor view = output;
  for (int64_t i = 0; i < output.size(); ++i)
    StoreDouble(view, i, EpilogueValue(kind, alpha, beta, LoadDouble(sums, i)));
}

Result<DatumList> EvaluateOn(const Node& node, const DatumList& inputs) {
  std::vector<const Datum*> pointers;
  for (size_t i = 0; i < inputs.size(); ++i) pointers.push_back(node.inputs()[i] ? &inputs[i] : nullptr);
  return EvaluateNode(node, pointers);
}

}  // namespace tern
