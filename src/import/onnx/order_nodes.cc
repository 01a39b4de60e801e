// Files in the wild list nodes in any order.
#include <set>

#include "import/onnx/graph_importer.h"

namespace tern::onnx {
namespace {

// Names a node's graphs read from outside are needs of the node itself.
void CollectReads(const pb::NodeProto& node, std::set<std::string>& reads) {
  reads.insert(node.input().begin(), node.input().end());
  for (const auto& a : node.attribute()) {
    if (a.has_g())
      for (const auto& inner : a.g().node()) CollectReads(inner, reads);
    if (a.has_g())
      for (const auto& out : a.g().output()) reads.insert(out.name());
    for (const auto& g : a.graphs())
      for (const auto& inner : g.node()) CollectReads(inner, reads);
  }
}

}  // namespace

Result<std::vector<const pb::NodeProto*>> OrderNodes(const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
  std::map<std::string, int> makers;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& out : nodes[i].output()) {
      if (out.empty()) continue;
      if (!makers.emplace(out, i).second)
        return InvalidModel("value '", out, "' is made twice: by nodes #", makers[out], " and #", i, " ('", nodes[i].name(), "')");
    }
  std::vector<int> waiting(static_cast<size_t>(nodes.size()), 0);
  std::vector<std::vector<int>> readers(static_cast<size_t>(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    std::set<std::string> reads;
    CollectReads(nodes[i], reads);
    for (const std::string& name : reads) {
      auto it = makers.find(name);
      // A name read only inside a nested graph may be that graph's own.
      if (it == makers.end() || (it->second == i && !nodes[i].input().empty() && std::find(nodes[i].input().begin(), nodes[i].input().end(), name) == nodes[i].input().end())) continue;
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
      return InvalidModel("the nodes form a cycle through node '", nodes[i].name(), "' (", nodes[i].op_type(), ", onnx node #", i, ")");
  return ordered;
}

}  // namespace tern::onnx
