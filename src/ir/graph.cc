#include "ir/graph.h"

#include <algorithm>
#include <unordered_set>

namespace tern {
namespace {

void DropUse(Value* value, Node* node, int index) {
  if (!value) return;
  // Searches from the end, because a constant may have thousands of readers and nodes are mostly removed in
  // reverse order.
  auto it = std::find(value->uses.rbegin(), value->uses.rend(), std::make_pair(node, index));
  TERN_CHECK(it != value->uses.rend(), "use list of '", value->name, "' is wrong");
  value->uses.erase(std::next(it).base());
}

}  // namespace

void Node::SetInput(int i, Value* value) {
  const auto index = static_cast<size_t>(i);
  if (index >= inputs_.size()) inputs_.resize(index + 1, nullptr);
  if (value) value->uses.emplace_back(this, i);  // first, because only this can fail
  DropUse(inputs_[index], this, i);
  inputs_[index] = value;
}

bool Node::unused() const {
  return std::all_of(outputs_.begin(), outputs_.end(), [](const Value* v) { return v->unused(); });
}

std::string Node::Describe() const {
  std::string out = name.empty() ? StrCat("a node") : StrCat("node '", name, "'");
  const std::string op_name = op ? op->name : "?";
  out += " (";
  if (!StartsWith(origin + ",", op_name + ",")) out += op_name + (origin.empty() ? "" : ", ");
  out += origin;
  return out + ")";
}

Graph::Graph(std::string graph_name, Graph* parent_graph)
    : name(std::move(graph_name)), parent(parent_graph) {}

Graph::~Graph() = default;

Value* Graph::NewValue(std::string value_name) {
  values_.push_back(std::make_unique<Value>());
  Value* v = values_.back().get();
  v->name = std::move(value_name);
  v->graph = this;
  v->position_ = std::prev(values_.end());
  return v;
}

void Graph::SetOutputs(std::vector<Value*> outputs) {
  for (Value* v : outputs)
    if (v) ++v->output_uses;
  for (Value* v : outputs_)
    if (v) --v->output_uses;
  outputs_ = std::move(outputs);
}

void Graph::ReplaceOutput(int i, Value* value) {
  Value*& place = outputs_[static_cast<size_t>(i)];
  if (value) ++value->output_uses;
  if (place) --place->output_uses;
  place = value;
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
  n->inputs_.resize(inputs.size());
  n->outputs_.reserve(static_cast<size_t>(outputs));
  n->position_ = nodes_.insert(before ? before->position_ : nodes_.end(), std::move(node));
  try {
    for (size_t i = 0; i < inputs.size(); ++i) n->SetInput(static_cast<int>(i), inputs[i]);
    for (int i = 0; i < outputs; ++i) {
      Value* v = NewValue("");
      v->producer = n;
      v->output = i;
      n->outputs_.push_back(v);
    }
  } catch (const std::bad_alloc&) {
    RemoveNode(n);
    throw;
  }
  return n;
}

const Node* Graph::Before(const Node& node) const {
  return node.position_ == nodes_.begin() ? nullptr : std::prev(node.position_)->get();
}

Graph* Graph::AddSubgraph(Node* node, std::string graph_name) {
  node->subgraphs_.push_back(std::make_unique<Graph>(std::move(graph_name), this));
  return node->subgraphs_.back().get();
}

// Removes all uses of values by the nodes and outputs of this graph and of its nested graphs.
void Graph::DropAllUses() {
  SetOutputs({});
  for (const auto& node : nodes_) {
    for (size_t i = 0; i < node->inputs_.size(); ++i) node->SetInput(static_cast<int>(i), nullptr);
    for (const auto& sub : node->subgraphs_) sub->DropAllUses();
  }
}

void Graph::RemoveNode(Node* node) {
  for (Value* v : node->outputs_)
    TERN_CHECK(v->unused(), "removing ", node->Describe(), ", whose output is read");
  for (const auto& sub : node->subgraphs_) sub->DropAllUses();
  for (size_t i = 0; i < node->inputs_.size(); ++i) node->SetInput(static_cast<int>(i), nullptr);
  const std::vector<Value*> outputs = std::move(node->outputs_);  // allocates nothing, so it cannot fail
  nodes_.erase(node->position_);
  for (Value* v : outputs) values_.erase(v->position_);
}

void Graph::ReplaceOutputsBelow(Value* from, Value* to) {
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] == from) ReplaceOutput(static_cast<int>(i), to);
  for (const auto& node : nodes_) {
    if (from->output_uses == 0) return;
    for (const auto& sub : node->subgraphs_) sub->ReplaceOutputsBelow(from, to);
  }
}

void Graph::ReplaceUses(Value* from, Value* to) {
  if (from == to) return;
  to->uses.insert(to->uses.end(), from->uses.begin(), from->uses.end());  // first, because only this can fail
  for (const auto& [node, index] : from->uses) node->inputs_[static_cast<size_t>(index)] = to;
  from->uses.clear();
  if (from->output_uses) from->graph->ReplaceOutputsBelow(from, to);
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
  const auto reads = [&](const GraphState& state) { return state.input == value; };
  states_.erase(std::remove_if(states_.begin(), states_.end(), reads), states_.end());
}

void Graph::RemoveUnusedConstants() {
  const std::unordered_set<const Value*> kept(overridable_.begin(), overridable_.end());
  values_.remove_if([&](const std::unique_ptr<Value>& v) {
    return v->is_constant() && v->unused() && !kept.count(v.get());
  });
}

int Graph::RemoveDeadNodes() {
  int removed = 0;
  for (auto it = nodes_.end(); it != nodes_.begin();) {
    Node* node = std::prev(it)->get();
    if (!node->unused()) {
      --it;
      continue;
    }
    RemoveNode(node);
    ++removed;
  }
  return removed;
}

int Graph::NodeCount() const {
  int count = static_cast<int>(nodes_.size());
  for (const auto& node : nodes_)
    for (const auto& sub : node->subgraphs()) count += sub->NodeCount();
  return count;
}

}  // namespace tern
