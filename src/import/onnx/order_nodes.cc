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

// Returns a node on a cycle. waiting[i] is the number of nodes that node i reads and that are not ordered.
// readers[i] are the nodes that read node i. Every node that waits reads another one that waits, so that
// following these edges leads into a cycle.
int NodeOnCycle(const std::vector<int>& waiting, const std::vector<std::vector<int>>& readers) {
  std::vector<int> read(waiting.size(), -1);  // for each node that waits, a node that it reads and that waits
  int at = 0;
  for (size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i] == 0) continue;
    at = static_cast<int>(i);
    for (int r : readers[i]) read[static_cast<size_t>(r)] = at;
  }
  for (std::set<int> seen; seen.insert(at).second;) at = read[static_cast<size_t>(at)];
  return at;
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
  const int i = NodeOnCycle(waiting, readers);
  return InvalidModel("the nodes form a cycle through node '", NodeLabel(nodes[i]), "' (", nodes[i].op_type(),
                      ", onnx node #", i, ")");
}

}  // namespace tern::onnx
