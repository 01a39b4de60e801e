// Values that are known before any input is: computed once per model, shared by all its plans.
#pragma once
#include "base/thread_pool.h"
#include "kernel_api/target.h"
#include "runtime/model/program.h"

namespace tern {

// May this node be evaluated ahead of time at all, given its inputs?
bool Foldable(const Node& node);

// Evaluates what depends on constants only, in nested graphs too. Results may grow little beyond what they
// are made of, and all of them together keep to `budget` bytes. Only those that an unfolded node, or an
// output, still reads are returned. A node that fails is left for the run to report, if it is reached at all.
FoldedValues FoldConstants(const Graph& graph, size_t budget, const Target& target, const Workers& workers);

}  // namespace tern
