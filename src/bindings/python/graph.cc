#include "bindings/python/graph.h"

#include <nanobind/stl/string.h>

#include <unordered_set>

namespace tern::python {
namespace {

void Collect(const Graph& graph, std::unordered_set<const void*>& out) {
  out.insert(&graph);
  for (const auto& value : graph.values()) out.insert(value.get());
  for (const auto& node : graph.nodes()) {
    out.insert(node.get());
    for (const auto& subgraph : node->subgraphs()) Collect(*subgraph, out);
  }
}

}  // namespace

Graph& SharedGraph::graph() {
  if (busy_) Raise(InvalidArgument("another thread is optimizing this graph; work on a clone"));
  return *graph_;
}

uint64_t SharedGraph::SerialOf(const void* object) {
  const auto [at, added] = serials_.try_emplace(object, next_);
  if (added) ++next_;
  return at->second;
}

bool SharedGraph::Alive(const void* object, uint64_t serial) const {
  const auto at = serials_.find(object);
  return at != serials_.end() && at->second == serial;
}

void SharedGraph::ForgetParts() {
  const uint64_t top = SerialOf(graph_.get());
  serials_.clear();
  serials_[graph_.get()] = top;
}

void SharedGraph::ForgetRemoved() {
  std::unordered_set<const void*> present;
  Collect(*graph_, present);
  for (auto it = serials_.begin(); it != serials_.end();)
    it = present.count(it->first) ? std::next(it) : serials_.erase(it);
}

SharedGraph::Exclusive::Exclusive(SharedGraph& shared) : shared_(shared) {
  (void)shared.graph();
  shared.busy_ = true;
}

GraphRef MakeGraph(std::unique_ptr<Graph> graph) {
  Graph* top = graph.get();
  return GraphRef(std::make_shared<SharedGraph>(std::move(graph)), top);
}

nb::list ValuesOf(const std::shared_ptr<SharedGraph>& shared, const std::vector<Value*>& values) {
  nb::list list;
  for (Value* value : values) list.append(value ? nb::cast(ValueRef(shared, value)) : nb::none());
  return list;
}

nb::list NodesOf(const GraphRef& graph) {
  nb::list list;
  for (const auto& node : graph->nodes()) list.append(nb::cast(NodeRef(graph.shared(), node.get())));
  return list;
}

ValueRef FindValue(const GraphRef& graph, const std::string& name) {
  for (const auto& value : graph->values())
    if (value->name == name) return ValueRef(graph.shared(), value.get());
  Raise(NotFound("the graph has no value '", name, "'"));
}

NodeRef FindNode(const GraphRef& graph, const std::string& name) {
  for (const auto& node : graph->nodes())
    if (node->name == name && !name.empty()) return NodeRef(graph.shared(), node.get());
  Raise(NotFound("the graph has no node '", name, "'"));
}

}  // namespace tern::python
