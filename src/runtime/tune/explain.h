// The candidates of a node, for reports.
#pragma once
#include "kernel_api/target.h"
#include "runtime/tune/choice.h"
#include "runtime/tune/record.h"

namespace tern {

// chosen: what runs. times: what was measured, where something was. released: weights that were packed may
// have left memory, so that kernels that pack them in another way cannot be asked.
Choice Explain(const Node& node, const KernelQuery& query, const Target& target, const KernelEntry& chosen,
               Reason reason, const std::vector<Measured>& times, bool released);

// One for all pieces of a batch that are alike, in place of one for each; in the order of the first ones.
std::vector<Choice> MergeSlices(const std::vector<Choice>& choices);

}  // namespace tern
