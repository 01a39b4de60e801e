// Steps that do the next one's work as well: a convolution that pools its results before it writes them. What
// lies between the two is never in memory.
#pragma once
#include <functional>

#include "runtime/plan/lower.h"

namespace tern {

// Joins nodes to the ones whose results they alone read, where the kernel chosen there can go on with them
// (KernelAbilities::fuses_next). entry_for: that kernel, or null.
void FuseNext(Lowered& lowered, const std::function<const KernelEntry*(const PlanNode&)>& entry_for,
              const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
