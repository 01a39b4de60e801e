// Folds constants, once per model. All plans of the model share the results.
#pragma once
#include "base/thread_pool.h"
#include "kernel_api/target.h"
#include "runtime/model/program.h"

namespace tern {

// Returns whether the node can be folded if its inputs are constant. Such a node is deterministic and has
// neither side effects nor subgraphs.
bool Foldable(const Node& node);

// Evaluates nodes whose inputs are all constant, also in subgraphs. `budget` limits the bytes of all results
// together. Does not fold a node if its results exceed both 16 MiB and eight times the bytes of its inputs,
// if they exceed the rest of the budget, or if they cannot be computed. If the size of the results is not
// known before the node is evaluated, folds the node only if its inputs have at most 2 MiB. If the results
// cannot be computed, a run that reaches the node reports the error. Returns only values that an unfolded
// node or a graph output reads.
FoldedValues FoldConstants(const Graph& graph, size_t budget, const Target& target, const Workers& workers);

}  // namespace tern
