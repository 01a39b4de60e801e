// Lists the candidate kernels of a node, for reports.
#pragma once
#include "kernel_api/target.h"
#include "runtime/tune/choice.h"
#include "runtime/tune/record.h"

namespace tern {

// Returns the choice of a node with all its candidates. `chosen` is the kernel that runs. `times` contains
// the measurements, if there are any. If `released` is true, the node's weights were released after packing,
// so only kernels with the pack layout of `chosen` are listed.
Choice Explain(const Node& node, const KernelQuery& query, const Target& target, const KernelEntry& chosen,
               Reason reason, const std::vector<Measured>& times, bool released);

// Merges equal choices of one node, which come from the slices of a split batch. The merged choice is at the
// position of the first of them.
std::vector<Choice> MergeSlices(const std::vector<Choice>& choices);

}  // namespace tern
