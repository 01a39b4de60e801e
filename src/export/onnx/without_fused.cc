#include "export/onnx/without_fused.h"

#include <algorithm>
#include <set>

namespace tern::onnx {
namespace {

bool IsFused(const Node& node) { return node.op->name == "Fused"; }

bool HasFused(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) {
    return IsFused(*node) || std::any_of(node->subgraphs().begin(), node->subgraphs().end(),
                                         [](const auto& sub) { return HasFused(*sub); });
  });
}

void Replace(Node& node) {
  Graph& graph = *node.graph;
  const InlinedGraph made = InlineGraph(*node.subgraphs()[0], node.inputs(), &node);
  std::set<const Value*> named;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    Value *from = node.outputs()[i], *to = made.outputs[i];
    // The body may return an input, a constant, or the same value several times. If such a value is an output
    // of the graph, emits an Identity, whose result gets the output's name.
    const bool own = std::find(made.nodes.begin(), made.nodes.end(), to->producer) != made.nodes.end();
    if (from->output_uses && (!own || named.count(to))) {
      Node* copy = graph.AddNode(*FindOp("Identity"), FindOp("Identity")->defaults, {to}, 1, &node);
      copy->output(0)->type = to->type;
      to = copy->output(0);
    }
    if (from->output_uses) {
      to->name = from->name;
      named.insert(to);
    }
    graph.ReplaceUses(from, to);
  }
  graph.RemoveNode(&node);
}

void ReplaceAll(Graph& graph) {
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node& node = **it++;
    for (const auto& sub : node.subgraphs()) ReplaceAll(*sub);
    if (IsFused(node)) Replace(node);
  }
}

}  // namespace

std::unique_ptr<Graph> WithoutFused(const Graph& graph) {
  if (!HasFused(graph)) return nullptr;
  std::unique_ptr<Graph> copy = graph.Clone();
  ReplaceAll(*copy);
  return copy;
}

}  // namespace tern::onnx
