// Names of nodes in a graph that is being rewritten.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern {

// The properties of a removed node. NameAfterReplaced uses them to name the new nodes.
struct ReplacedNode {
  explicit ReplacedNode(const Node& node);

  const OpDef* op = nullptr;
  std::string kind, name, origin;
};

// Like RemoveUnread in passes/rewrite/rewrite.h. Also appends the removed nodes to `removed`, with `node`
// first.
void RemoveUnread(Node& node, std::vector<ReplacedNode>& removed);

// Gives each new node of a rewrite the name and origin of the replaced node that did the same work. For
// example, if a Conv replaces Conv, Add and Relu, it gets the name of the old Conv. An Attention gets the
// name of a MatMul. The first element of `replaced` is the root. If no replaced node did the same work, the
// new node keeps the root's name. A new node with another name was copied from a nested graph and keeps its
// name.
void NameAfterReplaced(const std::vector<Node*>& made, const std::vector<ReplacedNode>& replaced);

// Makes all node names in the graph and its nested graphs unique. Of several nodes with the same name, only
// one keeps it. Nodes with multiply-accumulates are preferred, then nodes with other arithmetic. Of several
// equally preferred nodes, the last one keeps the name. The name of each other node gets its op's name as a
// suffix, and a number if necessary: "conv1", "conv1/Transpose", "conv1/Transpose_2". Nodes without a name
// stay without a name.
void MakeNamesUnique(Graph& graph);

}  // namespace tern
