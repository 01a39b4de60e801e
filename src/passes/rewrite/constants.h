// Computing nodes ahead of time, by their reference evaluators.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Always gives the same tensors: pure, without a graph inside, and reads constants only.
bool IsConstantNode(const Node& node);
// What evaluating such a node takes, in arithmetic steps, as far as its dims are known.
double WorkOf(const Node& node);
// More is left to the run, which has kernels: the evaluators do some hundred million steps a second.
constexpr double kMostWorkAhead = 5e8;
// The outputs of such a node; nothing when one is not a tensor.
Result<std::optional<std::vector<Tensor>>> EvaluateConstantNode(const Node& node);

}  // namespace tern
