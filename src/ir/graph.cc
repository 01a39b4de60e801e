#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

namespace tern {
namespace {

void DropUse(Value* value, Node* node, int index) {
  if (!value) return;
  // From the end: nodes are mostly removed last first, and a constant may have thousands of readers.
  auto it = std::find(value->uses.rbegin(), value->uses.rend(), std::make_pair(node, index));
  TERN_CHECK(it != value->uses.rend(), "use list of '", value->name, "' is wrong");
  value->uses.erase(std::next(it).base());
}

}  // namespace

void Node::SetInput(int i, Value* value) {
  const auto index = static_cast<size_t>(i);
  if (index >= inputs_.size()) inputs_.resize(index + 1, nullptr);
  DropUse(inputs_[index], this, i);
  inputs_[index] = value;
  if (value) value->uses.emplace_back(this, i);
}

std::string Node::Describe() const {
  std::string out = name.empty() ? StrCat("a node") : StrCat("node '", name, "'");
  out += StrCat(" (", op ? op->name : "?");
  if (!origin.empty()) out += StrCat(", ", origin);
  return out + ")";
}

Graph::Graph(std::string graph_name, Graph* parent_graph)
    : name(std::move(graph_name)), parent(parent_graph) {}

Graph::~Graph() {
  // Nested graphs may hold uses of our values; nodes go in reverse so that no dangling use is touched.
  while (!nodes_.empty()) nodes_.pop_back();
}

Value* Graph::NewValue(std::string value_name) {
  values_.push_back(std::make_unique<Value>());
  Value* v = values_.back().get();
  v->name = std::move(value_name);
  v->graph = this;
  return v;
}

Value* Graph::AddInput(std::string value_name, Type type) {
  Value* v = NewValue(std::move(value_name));
  v->type = std::move(type);
  v->is_input = true;
  inputs_.push_back(v);
  return v;
}

Value* Graph::AddConstant(Tensor tensor, std::string value_name) {
  Value* v = NewValue(std::move(value_name));
  v->type = Type::TensorOf(tensor.dtype(), Shape::Of(tensor.dims()));
  v->constant = std::move(tensor);
  return v;
}

Node* Graph::AddNode(const OpDef& op, Attrs attrs, const std::vector<Value*>& inputs, int outputs,
                     Node* before) {
  auto node = std::make_unique<Node>();
  Node* n = node.get();
  n->op = &op;
  n->attrs = std::move(attrs);
  n->graph = this;
  for (size_t i = 0; i < inputs.size(); ++i) n->SetInput(static_cast<int>(i), inputs[i]);
  for (int i = 0; i < outputs; ++i) {
    Value* v = NewValue("");
    v->producer = n;
    v->output = i;
    n->outputs_.push_back(v);
  }
  n->place_ = nodes_.insert(before ? before->place_ : nodes_.end(), std::move(node));
  return n;
}

Graph* Graph::AddSubgraph(Node* node, std::string graph_name) {
  node->subgraphs_.push_back(std::make_unique<Graph>(std::move(graph_name), this));
  return node->subgraphs_.back().get();
}

// Uses that nodes inside `graph` make of outside values end with the graph.
static void DropAllUses(Graph& graph) {
  for (const auto& node : graph.nodes()) {
    for (size_t i = 0; i < node->inputs().size(); ++i) node->SetInput(static_cast<int>(i), nullptr);
    for (const auto& sub : node->subgraphs()) DropAllUses(*sub);
  }
}

static void EraseValues(std::vector<std::unique_ptr<Value>>& values,
                        const std::unordered_set<const Value*>& gone) {
  const auto erased = [&](const std::unique_ptr<Value>& v) { return gone.count(v.get()) != 0; };
  values.erase(std::remove_if(values.begin(), values.end(), erased), values.end());
}

void Graph::RemoveNode(Node* node) {
  for (Value* v : node->outputs_)
    TERN_CHECK(v->uses.empty(), "removing ", node->Describe(), ", whose output is read");
  for (const auto& sub : node->subgraphs_) DropAllUses(*sub);
  for (size_t i = 0; i < node->inputs_.size(); ++i) node->SetInput(static_cast<int>(i), nullptr);
  const std::unordered_set<const Value*> gone(node->outputs_.begin(), node->outputs_.end());
  nodes_.erase(node->place_);
  EraseValues(values_, gone);
}

static void ReplaceOutputsBelow(Graph& graph, Value* from, Value* to) {
  for (size_t i = 0; i < graph.outputs().size(); ++i)
    if (graph.outputs()[i] == from) graph.ReplaceOutput(static_cast<int>(i), to);
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) ReplaceOutputsBelow(*sub, from, to);
}

void Graph::ReplaceUses(Value* from, Value* to) {
  if (from == to) return;
  for (const auto& [node, index] : from->uses) node->inputs_[static_cast<size_t>(index)] = to;
  to->uses.insert(to->uses.end(), from->uses.begin(), from->uses.end());
  from->uses.clear();
  ReplaceOutputsBelow(*this, from, to);
}

void Graph::ConstantToInput(Value* value) {
  TERN_CHECK(value->is_constant() && value->graph == this, "not a constant of this graph: ", value->name);
  value->constant = Tensor();
  value->content.reset();
  value->is_input = true;
  inputs_.push_back(value);
  overridable_.erase(std::remove(overridable_.begin(), overridable_.end(), value), overridable_.end());
}

void Graph::InputToConstant(Value* value, Tensor tensor) {
  value->type = Type::TensorOf(tensor.dtype(), Shape::Of(tensor.dims()));
  value->constant = std::move(tensor);
  value->is_input = false;
  inputs_.erase(std::remove(inputs_.begin(), inputs_.end(), value), inputs_.end());
}

static void MarkOutputs(const Graph& graph, std::vector<const Value*>& out) {
  out.insert(out.end(), graph.outputs().begin(), graph.outputs().end());
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) MarkOutputs(*sub, out);
}

void Graph::RemoveUnusedConstants() {
  std::vector<const Value*> kept;
  MarkOutputs(*this, kept);
  kept.insert(kept.end(), overridable_.begin(), overridable_.end());
  std::sort(kept.begin(), kept.end());
  auto unused = [&](const std::unique_ptr<Value>& v) {
    return v->is_constant() && v->uses.empty() && !std::binary_search(kept.begin(), kept.end(), v.get());
  };
  values_.erase(std::remove_if(values_.begin(), values_.end(), unused), values_.end());
}

int Graph::RemoveDeadNodes() {
  std::vector<const Value*> kept;
  MarkOutputs(*this, kept);
  std::sort(kept.begin(), kept.end());
  int removed = 0;
  // RemoveNode sweeps the values; here they are put aside and swept once for all nodes.
  std::vector<std::unique_ptr<Value>> aside = std::move(values_);
  values_.clear();
  std::unordered_set<const Value*> gone;
  for (auto it = nodes_.end(); it != nodes_.begin();) {
    --it;
    Node* node = it->get();
    const bool dead = std::all_of(node->outputs_.begin(), node->outputs_.end(), [&](Value* v) {
      return v->uses.empty() && !std::binary_search(kept.begin(), kept.end(), v);
    });
    if (!dead) continue;
    ++it;  // the erased element is behind the iterator that goes on
    gone.insert(node->outputs_.begin(), node->outputs_.end());
    RemoveNode(node);
    ++removed;
  }
  values_ = std::move(aside);
  EraseValues(values_, gone);
  return removed;
}

int Graph::NodeCount() const {
  int count = static_cast<int>(nodes_.size());
  for (const auto& node : nodes_)
    for (const auto& sub : node->subgraphs()) count += sub->NodeCount();
  return count;
}

}  // namespace tern
