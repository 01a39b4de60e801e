// Names of nodes in a graph that is being rewritten.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// What stays of a node that a rewrite removed: enough to name the nodes in its place.
struct ReplacedNode {
  explicit ReplacedNode(const Node& node);

  const OpDef* op = nullptr;
  std::string kind, name, origin;
};

// RemoveUnread (passes/rewrite/rewrite.h) that adds the nodes it removes to a list, the given one first.
void RemoveUnread(Node& node, std::vector<ReplacedNode>& removed);

// Names the new nodes of a rewrite, with their origins, after the nodes that did the same work: Conv + Add +
// Relu becomes a Conv named as the Conv was, attention is named after one of its products. `replaced` has the
// root first. A new node that has no counterpart keeps the root's name; one that has another name than the
// root keeps that.
void NameAfterReplaced(const std::vector<Node*>& made, const std::vector<ReplacedNode>& replaced);

// Makes all names in the graph and in the graphs inside of it different. Of nodes with the same name the one
// that does the most work keeps it, the last of equals; the others get their op's name, and a number where
// that is not enough: "conv1", "conv1/Transpose", "conv1/Transpose_2". Nodes without a name stay so.
void MakeNamesUnique(Graph& graph);

}  // namespace tern
