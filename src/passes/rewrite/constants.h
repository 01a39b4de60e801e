// Evaluates constant nodes at optimization time, with their reference evaluators.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// True if the node is pure and not random, has no nested graph and reads constants only. Its result is then
// always the same.
bool IsConstantNode(const Node& node);
// The cost of evaluating a constant node in arithmetic operations. Outputs with unknown dims count as 0.
double WorkOf(const Node& node);
// Nodes with more work are not folded, because the reference evaluators do only about 1e8 operations a
// second. The run computes these nodes with kernels, which are faster.
constexpr double kMaxConstantWork = 5e8;
// The outputs of a constant node; nullopt when an output is not a tensor.
Result<std::optional<std::vector<Tensor>>> EvaluateConstantNode(const Node& node);

}  // namespace tern
