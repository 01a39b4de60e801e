#include <algorithm>

#include "ir/builder.h"
#include "random_graph.h"

namespace tern {
namespace {

std::vector<Value*> FloatConstants(const Graph& graph) {
  std::vector<Value*> found;
  for (const auto& v : graph.values())
    if (v->is_constant() && IsFloat(v->type.dtype) && v->constant.size() > 0) found.push_back(v.get());
  return found;
}

void OtherNumber(Graph& graph, Random& random) {
  const auto constants = FloatConstants(graph);
  if (constants.empty()) return;
  Value* old = random.Pick(constants);
  static const std::vector<double> kNumbers = {0, 1, -1, 0.5, 2, 3};
  Tensor t = old->constant.Clone();
  const int64_t all = random.Chance(0.3) ? t.size() : 1;
  const int64_t from = all > 1 ? 0 : random.Below(static_cast<int>(t.size()));
  const double v = random.Chance(0.3) ? LoadDouble(t, from) * 1.25 : random.Pick(kNumbers);
  for (int64_t i = from; i < from + all; ++i) StoreDouble(t, i, v);
  graph.ReplaceUses(old, graph.AddConstant(t));
}

void OpenConstant(Graph& graph, Random& random) {
  const auto constants = FloatConstants(graph);
  if (!constants.empty()) graph.ConstantToInput(random.Pick(constants));
}

// Inserts an identity or another op between a node and one of its operands.
void Between(Graph& graph, Random& random) {
  std::vector<std::pair<Node*, int>> places;
  for (const auto& node : graph.nodes())
    for (size_t i = 0; i < node->inputs().size(); ++i)
      if (node->inputs()[i] && IsFloat(node->inputs()[i]->type.dtype))
        places.emplace_back(node.get(), static_cast<int>(i));
  if (places.empty()) return;
  const auto [node, input] = random.Pick(places);
  Value* x = node->input(input);
  static const std::vector<const char*> kKinds = {"identity", "relu", "neg", "tanh", "add", "mul", "sub"};
  const std::string kind = random.Pick(kKinds);
  const bool two = kind == "add" || kind == "mul" || kind == "sub";
  const OpDef& op = *FindOp(kind == "identity" ? "Identity" : two ? "Binary" : "Unary");
  Attrs attrs = op.defaults;
  if (kind != "identity") (void)attrs.Set("kind", kind);
  std::vector<Value*> inputs = {x};
  if (two) inputs.push_back(graph.AddConstant(Tensor::Scalar(x->type.dtype, random.Below(3))));
  node->SetInput(input, graph.AddNode(op, attrs, inputs, 1, node)->output(0));
}

// Replaces a size by a symbol in the dims of all inputs.
void OpenDim(Graph& graph, Random& random) {
  std::vector<int64_t> sizes;
  for (const Value* v : graph.inputs())
    for (const Dim& d : v->type.shape.dims)
      if (d.known()) sizes.push_back(d.value());
  if (sizes.empty()) return;
  const int64_t size = random.Pick(sizes);
  for (Value* v : graph.inputs())
    for (Dim& d : v->type.shape.dims)
      if (d.Is(size)) d = Dim::Symbol(StrCat("D", size));
}

Node* AnyNode(const Graph& graph, Random& random) {
  if (graph.nodes().empty()) return nullptr;
  return std::next(graph.nodes().begin(), random.Below(static_cast<int>(graph.nodes().size())))->get();
}

// Changes a kind, axis, permutation, flag or factor.
void OtherAttribute(Graph& graph, Random& random) {
  Node* node = AnyNode(graph, random);
  if (!node) return;
  const auto entries = node->attrs.List();
  if (entries.empty()) return;
  const auto& e = random.Pick(entries);
  AttrValue v = e.value;
  if (!e.choices.empty())
    v = std::string(random.Pick(e.choices));
  else if (auto* flag = std::get_if<bool>(&v))
    *flag = !*flag;
  else if (auto* number = std::get_if<int64_t>(&v))
    *number += random.Chance(0.5) ? 1 : -1;
  else if (auto* factor = std::get_if<double>(&v))
    *factor = random.Pick(std::vector<double>{0, 1, 0.5, -1, *factor * 1.01});
  else if (auto* list = std::get_if<std::vector<int64_t>>(&v); list && list->size() > 1)
    std::swap((*list)[0], (*list)[static_cast<size_t>(random.Below(static_cast<int>(list->size())))]);
  (void)node->attrs.Set(e.name, v);
}

void OtherOrder(Graph& graph, Random& random) {
  Node* node = AnyNode(graph, random);
  if (!node || node->inputs().size() < 2) return;
  const int k = random.Between(1, static_cast<int>(node->inputs().size()) - 1);
  Value *a = node->input(0), *b = node->input(k);
  node->SetInput(0, b);
  node->SetInput(k, a);
}

// Replaces an operand by another value of the same type.
void OtherOperand(Graph& graph, Random& random) {
  Node* node = AnyNode(graph, random);
  if (!node || node->inputs().empty()) return;
  const int k = random.Below(static_cast<int>(node->inputs().size()));
  const Value* old = node->input(k);
  if (!old) return;
  std::vector<Value*> others(graph.inputs());
  for (const auto& before : graph.nodes()) {
    if (before.get() == node) break;
    others.insert(others.end(), before->outputs().begin(), before->outputs().end());
  }
  others.erase(std::remove_if(others.begin(), others.end(),
                              [&](Value* v) { return v == old || !(v->type == old->type); }),
               others.end());
  if (!others.empty()) node->SetInput(k, random.Pick(others));
}

void OtherInteger(Graph& graph, Random& random) {
  std::vector<Value*> found;
  for (const auto& v : graph.values())
    if (v->is_constant() && v->type.dtype == DType::kI64 && v->constant.size() > 0) found.push_back(v.get());
  if (found.empty()) return;
  Value* old = random.Pick(found);
  Tensor t = old->constant.Clone();
  const int64_t i = random.Below(static_cast<int>(t.size()));
  StoreLong(t, i, random.Chance(0.5) ? LoadLong(t, i) + random.Between(-1, 1) : random.Between(-1, 3));
  graph.ReplaceUses(old, graph.AddConstant(t));
}

void MoreOutputs(Graph& graph, Random& random) {
  std::vector<Value*> inner;
  for (const auto& node : graph.nodes())
    for (Value* v : node->outputs())
      if (!v->output_uses && v->type.tensor()) inner.push_back(v);
  if (inner.empty()) return;
  auto outputs = graph.outputs();
  outputs.push_back(random.Pick(inner));
  graph.SetOutputs(outputs);
}

}  // namespace

void ForgetTypes(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (Value* v : node->outputs()) {
      v->type = Type();
      v->content.reset();
    }
    for (const auto& sub : node->subgraphs()) ForgetTypes(*sub);
  }
}

void MutateGraph(Graph& graph, Random& random) {
  static const std::vector<void (*)(Graph&, Random&)> kChanges = {
      OtherNumber, OtherNumber,    OpenConstant,   Between,    Between,      OpenDim,
      MoreOutputs, OtherAttribute, OtherAttribute, OtherOrder, OtherOperand, OtherInteger};
  random.Pick(kChanges)(graph, random);
  ForgetTypes(graph);
}

}  // namespace tern
