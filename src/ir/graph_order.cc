// Sorts the nodes of a graph, finds its captures, and clones or inlines it.
#include <map>
#include <set>

#include "ir/graph.h"

namespace tern {
namespace {

bool Inside(const Graph* graph, const Graph& boundary) {
  for (; graph; graph = graph->parent)
    if (graph == &boundary) return true;
  return false;
}

// Unique values in order of first use.
struct ValueList {
  std::vector<Value*> values;
  std::set<Value*> seen;
};

void Capture(Value* v, const Graph& boundary, ValueList& out) {
  if (v && !Inside(v->graph, boundary) && out.seen.insert(v).second) out.values.push_back(v);
}

// Adds to `out` the values outside `boundary` that `inner` and its nested graphs read.
void CollectCaptures(const Graph& inner, const Graph& boundary, ValueList& out) {
  for (const auto& node : inner.nodes()) {
    for (Value* v : node->inputs()) Capture(v, boundary, out);
    for (const auto& sub : node->subgraphs()) CollectCaptures(*sub, boundary, out);
  }
  for (Value* v : inner.outputs()) Capture(v, boundary, out);
}

// Returns all values that a node depends on: its inputs and the captures of its subgraphs.
std::vector<Value*> Needs(const Node& node) {
  std::vector<Value*> needs(node.inputs().begin(), node.inputs().end());
  for (const auto& sub : node.subgraphs()) {
    const auto captured = sub->Captures();
    needs.insert(needs.end(), captured.begin(), captured.end());
  }
  return needs;
}

class Cloner {
 public:
  void Copy(const Graph& from, Graph& to) {
    to.metadata = from.metadata;
    for (const auto& v : from.values())
      if (!v->is_input && !v->producer) CopyConstant(*v, to);
    for (Value* v : from.inputs()) CopyInfo(*v, *(map_[v] = to.AddInput(v->name, v->type)));
    for (const auto& node : from.nodes()) CopyNode(*node, to);
    std::vector<Value*> outputs;
    for (Value* v : from.outputs()) outputs.push_back(Find(v));
    to.SetOutputs(std::move(outputs));
    for (Value* v : from.overridable()) to.MarkOverridable(Find(v));
    for (const GraphState& state : from.states()) to.AddState({Find(state.input), state.output, state.axis});
  }

  InlinedGraph Inline(const Graph& body, const std::vector<Value*>& inputs, Node* before) {
    InlinedGraph copies;
    for (size_t i = 0; i < body.inputs().size(); ++i) map_[body.inputs()[i]] = inputs[i];
    for (const auto& v : body.values())
      if (!v->is_input && !v->producer) copies.constants.push_back(CopyConstant(*v, *before->graph));
    for (const auto& node : body.nodes()) copies.nodes.push_back(CopyNode(*node, *before->graph, before));
    for (Value* v : body.outputs()) copies.outputs.push_back(Find(v));
    return copies;
  }

 private:
  Value* CopyConstant(const Value& v, Graph& to) {
    Value* c = to.AddConstant(v.constant, v.name);
    c->type = v.type;
    return map_[&v] = c;
  }

  Value* Find(Value* v) {
    if (!v) return nullptr;
    auto it = map_.find(v);
    return it == map_.end() ? v : it->second;
  }

  static void CopyInfo(const Value& from, Value& to) {
    to.name = from.name;
    to.type = from.type;
    to.content = from.content;
  }

  Node* CopyNode(const Node& node, Graph& to, Node* before = nullptr) {
    std::vector<Value*> inputs;
    for (Value* v : node.inputs()) inputs.push_back(Find(v));
    Node* copy = to.AddNode(*node.op, node.attrs, inputs, static_cast<int>(node.outputs().size()), before);
    copy->name = node.name;
    copy->origin = node.origin;
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      CopyInfo(*node.outputs()[i], *copy->outputs()[i]);
      map_[node.outputs()[i]] = copy->outputs()[i];
    }
    for (const auto& sub : node.subgraphs()) Copy(*sub, *to.AddSubgraph(copy, sub->name));
    return copy;
  }

  std::map<const Value*, Value*> map_;
};

}  // namespace

std::vector<Value*> Graph::Captures() const {
  ValueList out;
  CollectCaptures(*this, *this, out);
  return std::move(out.values);
}

std::unique_ptr<Graph> Graph::Clone() const {
  TERN_CHECK(!parent, "only a top-level graph can be cloned");
  auto copy = std::make_unique<Graph>(name);
  Cloner().Copy(*this, *copy);
  return copy;
}

InlinedGraph InlineGraph(const Graph& body, const std::vector<Value*>& inputs, Node* before) {
  TERN_CHECK(inputs.size() == body.inputs().size(), "graph '", body.name, "' takes ", body.inputs().size(),
             " inputs, got ", inputs.size());
  return Cloner().Inline(body, inputs, before);
}

Status Graph::SortNodes() {
  std::map<const Node*, int> waiting;
  std::map<const Node*, std::vector<Node*>> readers;
  std::map<const Node*, int> position;
  int next = 0;
  for (const auto& node : nodes_) {
    position[node.get()] = next++;
    for (Value* v : Needs(*node)) {
      if (!v || !v->producer || v->graph != this) continue;
      ++waiting[node.get()];
      readers[v->producer].push_back(node.get());
    }
  }
  auto earlier = [&](const Node* a, const Node* b) { return position[a] < position[b]; };
  std::set<Node*, decltype(earlier)> ready(earlier);
  for (const auto& node : nodes_)
    if (waiting[node.get()] == 0) ready.insert(node.get());
  size_t placed = 0;
  while (!ready.empty()) {
    Node* node = *ready.begin();
    ready.erase(ready.begin());
    nodes_.splice(nodes_.end(), nodes_, node->position_);
    ++placed;
    for (Node* reader : readers[node])
      if (--waiting[reader] == 0) ready.insert(reader);
  }
  if (placed == nodes_.size()) return {};
  for (const auto& node : nodes_)
    if (waiting[node.get()] > 0)
      return InvalidModel("the nodes form a cycle: ", node->Describe(), " is part of it or depends on it");
  return InvalidModel("the nodes form a cycle");
}

}  // namespace tern
