// Evaluates constant nodes at optimization time, with their reference evaluators.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// True if the node is pure and not random, has no nested graph and reads constants only. Its result is then
// always the same.
bool IsConstantNode(const Node& node);
// Returns the number of arithmetic operations to evaluate a constant node. Outputs with unknown dims count
// as 0.
double WorkOf(const Node& node);
// A rewrite is refused if it needs to fold a node with more operations, because the reference evaluators do
// only about 1e8 operations a second.
constexpr double kMaxConstantWork = 5e8;
// Returns the outputs of a constant node, or nullopt if an output is not a tensor.
Result<std::optional<std::vector<Tensor>>> EvaluateConstantNode(const Node& node);

}  // namespace tern
