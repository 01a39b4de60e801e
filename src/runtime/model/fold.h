// Folds constants, once per model. All plans of the model share the results.
#pragma once
#include "base/thread_pool.h"
#include "kernel_api/target.h"
#include "runtime/model/program.h"

namespace tern {

// Returns whether the node can be folded if its inputs are constant. Such a node is deterministic and has
// neither side effects nor subgraphs.
bool Foldable(const Node& node);

// Evaluates nodes whose inputs are all constant, also in subgraphs. Skips a node whose results are much
// larger than its inputs, or whose results exceed what remains of `budget` bytes. Returns only values that an
// unfolded node or an output reads. Does not fold a node whose evaluation fails. If a run reaches the node,
// the run reports the failure.
FoldedValues FoldConstants(const Graph& graph, size_t budget, const Target& target, const Workers& workers);

}  // namespace tern
