#include "passes/rewrite/names.h"

#include <unordered_map>
#include <unordered_set>

#include "passes/rewrite/facts.h"

namespace tern {
namespace {

// True if the op computes multiply-accumulates, as Conv and Attention do.
bool Multiplies(const OpDef& op) { return static_cast<bool>(op.macs); }

// Returns 2 if the op computes multiply-accumulates, 1 if it does other arithmetic, and 0 if it moves data or
// casts.
int WorkClass(const OpDef& op) { return Multiplies(op) ? 2 : op.MovesData() || op.name == "Cast" ? 0 : 1; }

void Collect(const Graph& graph, std::vector<Node*>& nodes) {
  for (const auto& node : graph.nodes()) {
    nodes.push_back(node.get());
    for (const auto& body : node->subgraphs()) Collect(*body, nodes);
  }
}

}  // namespace

ReplacedNode::ReplacedNode(const Node& node)
    : op(node.op), kind(KindName(node)), name(node.name), origin(node.origin) {}

void NameAfterReplaced(const std::vector<Node*>& made, const std::vector<ReplacedNode>& replaced) {
  std::vector<bool> taken(replaced.size());
  const auto take = [&](Node& node, auto fits) {
    for (size_t i = 0; i < replaced.size(); ++i) {
      if (taken[i] || replaced[i].name.empty() || !fits(replaced[i])) continue;
      taken[i] = true;
      node.name = replaced[i].name;
      node.origin = replaced[i].origin;
      return true;
    }
    return false;
  };
  std::vector<Node*> products;
  for (Node* node : made) {
    // A node that was copied from a nested graph keeps its name.
    if (replaced.empty() || node->name != replaced[0].name) continue;
    const std::string kind = KindName(*node);
    const bool found = take(*node, [&](const ReplacedNode& r) { return r.op == node->op && r.kind == kind; });
    if (!found && Multiplies(*node->op)) products.push_back(node);
  }
  for (Node* node : products) take(*node, [](const ReplacedNode& r) { return Multiplies(*r.op); });
}

void MakeNamesUnique(Graph& graph) {
  std::vector<Node*> nodes;
  Collect(graph, nodes);
  std::unordered_map<std::string, Node*> keepers;
  for (Node* node : nodes) {
    Node*& keeper = keepers[node->name];
    if (!keeper || WorkClass(*node->op) >= WorkClass(*keeper->op)) keeper = node;
  }
  std::unordered_set<std::string> used;
  for (const auto& [name, keeper] : keepers) used.insert(name);
  std::unordered_map<std::string, int> numbers;  // the last suffix used for a base name
  for (Node* node : nodes) {
    if (node->name.empty() || keepers[node->name] == node) continue;
    const std::string base = StrCat(node->name, "/", node->op->name);
    std::string name = base;
    for (int& number = numbers[base]; !used.insert(name).second;) name = StrCat(base, "_", ++number + 1);
    node->name = std::move(name);
  }
}

}  // namespace tern
