// Sorts nodes topologically, because some files do not list them in this order.
#include <set>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {
namespace {

void CollectReads(const pb::NodeProto& node, std::set<std::string>& reads);

// Collects the names that a graph reads but does not define. They are its captures from enclosing graphs.
void CollectFree(const pb::GraphProto& graph, std::set<std::string>& reads) {
  std::set<std::string> names;
  for (const auto& node : graph.node()) CollectReads(node, names);
  for (const auto& out : graph.output()) names.insert(out.name());
  for (const auto& in : graph.input()) names.erase(in.name());
  for (const auto& constant : graph.initializer()) names.erase(constant.name());
  for (const auto& constant : graph.sparse_initializer()) names.erase(constant.values().name());
  for (const auto& node : graph.node())
    for (const std::string& out : node.output()) names.erase(out);
  reads.insert(names.begin(), names.end());
}

// Collects the names that a node reads. Captures of its subgraphs count as its inputs.
void CollectReads(const pb::NodeProto& node, std::set<std::string>& reads) {
  reads.insert(node.input().begin(), node.input().end());
  for (const auto& a : node.attribute()) {
    if (a.has_g()) CollectFree(a.g(), reads);
    for (const auto& g : a.graphs()) CollectFree(g, reads);
  }
}

}  // namespace

Result<std::vector<const pb::NodeProto*>> OrderNodes(
    const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
  std::map<std::string, int> producers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& out : nodes[i].output()) {
      if (out.empty()) continue;
      if (!producers.emplace(out, i).second)
        return InvalidModel("value '", out, "' is produced twice: by nodes #", producers[out], " and #", i,
                            " ('", nodes[i].name(), "')");
    }
  std::vector<int> waiting(static_cast<size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> readers(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> reads;
    CollectReads(nodes[i], reads);
    for (const std::string& name : reads) {
      auto it = producers.find(name);
      if (it == producers.end()) continue;
      ++waiting[static_cast<size_t>(i)];
      readers[static_cast<size_t>(it->second)].push_back(i);
    }
  }
  std::set<int> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[static_cast<size_t>(i)] == 0) ready.insert(i);
  std::vector<const pb::NodeProto*> ordered;
  while (!ready.empty()) {
    const int i = *ready.begin();
    ready.erase(ready.begin());
    ordered.push_back(&nodes[i]);
    for (int r : readers[static_cast<size_t>(i)])
      if (--waiting[static_cast<size_t>(r)] == 0) ready.insert(r);
  }
  if (static_cast<int>(ordered.size()) == nodes.size()) return ordered;
  for (int i = 0; i < nodes.size(); ++i)
    if (waiting[static_cast<size_t>(i)] > 0)
      return InvalidModel("the nodes form a cycle through node '", NodeLabel(nodes[i]), "' (",
                          nodes[i].op_type(), ", onnx node #", i, ")");
  return ordered;
}

}  // namespace tern::onnx
