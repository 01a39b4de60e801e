// Evaluates constant nodes at optimization time, with their reference evaluators.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// True if the node is pure, has no nested graph and reads constants only, so that its result is always the
// same.
bool IsConstantNode(const Node& node);
// The cost of evaluating a constant node in arithmetic operations. Outputs with unknown dims count as 0.
double WorkOf(const Node& node);
// Costlier nodes are left to the run, which has kernels: evaluators do about 1e8 operations a second.
constexpr double kMaxConstantWork = 5e8;
// The outputs of a constant node; nullopt when one is not a tensor.
Result<std::optional<std::vector<Tensor>>> EvaluateConstantNode(const Node& node);

}  // namespace tern
