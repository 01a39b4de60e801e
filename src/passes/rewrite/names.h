// Names of nodes in a graph that is being rewritten.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// The properties of a removed node from which the nodes that replace it get their names.
struct ReplacedNode {
  explicit ReplacedNode(const Node& node);

  const OpDef* op = nullptr;
  std::string kind, name, origin;
};

// Like RemoveUnread in passes/rewrite/rewrite.h. Also appends the removed nodes to `removed`, with `node`
// first.
void RemoveUnread(Node& node, std::vector<ReplacedNode>& removed);

// Names the new nodes of a rewrite, with their origins, after the nodes that did the same work. Conv + Add +
// Relu becomes a Conv with the name of the Conv. Attention is named after one of its products. `replaced` has
// the root first. A new node without a counterpart keeps the root's name. A new node whose name differs from
// the root's was copied from a nested graph and keeps its name.
void NameAfterReplaced(const std::vector<Node*>& made, const std::vector<ReplacedNode>& replaced);

// Makes all node names in the graph and its nested graphs unique. Among nodes with the same name, the node
// with the most arithmetic keeps the name. Of several such nodes, the last one keeps the name. The other
// nodes get their op's name as a suffix, and a number if the suffix does not make the name unique: "conv1",
// "conv1/Transpose", "conv1/Transpose_2". Nodes without a name stay without one.
void MakeNamesUnique(Graph& graph);

}  // namespace tern
