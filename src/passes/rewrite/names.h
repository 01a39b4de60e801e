// Names of nodes in a graph that is being rewritten.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// The properties of a removed node after which the nodes that replace it are named.
struct ReplacedNode {
  explicit ReplacedNode(const Node& node);

  const OpDef* op = nullptr;
  std::string kind, name, origin;
};

// Like RemoveUnread in passes/rewrite/rewrite.h. Also appends the removed nodes to a list, `node` first.
void RemoveUnread(Node& node, std::vector<ReplacedNode>& removed);

// Names the new nodes of a rewrite, with their origins, after the nodes that did the same work. Conv + Add +
// Relu becomes a Conv with the name of the Conv. Attention is named after one of its products. `replaced` has
// the root first. A new node without a counterpart keeps the root's name. A new node with another name than
// the root keeps its own name.
void NameAfterReplaced(const std::vector<Node*>& made, const std::vector<ReplacedNode>& replaced);

// Makes all node names in the graph and its nested graphs unique. Of nodes with the same name, the one with
// the most arithmetic keeps it, the last one among equals. The others get their op's name as a suffix, and a
// number where that is not unique: "conv1", "conv1/Transpose", "conv1/Transpose_2". Nodes without a name get
// none.
void MakeNamesUnique(Graph& graph);

}  // namespace tern
