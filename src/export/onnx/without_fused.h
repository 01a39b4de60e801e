// Removes Fused nodes from a graph before export, because ONNX has no such operator.
#pragma once
#include <memory>

#include "ir/graph.h"

namespace tern::onnx {

// Returns a copy of a top-level graph. In the copy and its nested graphs, each Fused node is replaced
// by the nodes of its body. The graph's outputs keep their names. Returns null if the graph has no
// Fused node.
std::unique_ptr<Graph> WithoutFused(const Graph& graph);

}  // namespace tern::onnx
