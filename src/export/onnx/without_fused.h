// Prepares a graph for export: ONNX has no operator for a group of nodes.
#pragma once
#include <memory>

#include "ir/graph.h"

namespace tern::onnx {

// A copy of a top-level graph in which the nodes of its body replace each Fused node, also in nested graphs.
// Names of graph outputs stay. Null if the graph has no Fused node.
std::unique_ptr<Graph> WithoutFused(const Graph& graph);

}  // namespace tern::onnx
