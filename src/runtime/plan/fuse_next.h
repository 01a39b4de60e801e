// Fuses a node with the next one, such as a convolution with the pooling of its result. The intermediate
// value is never stored.
#pragma once
#include <functional>

#include "runtime/plan/lower.h"

namespace tern {

// Fuses a node into the node whose result only it reads, if the kernel of that node supports it
// (KernelAbilities::fuses_next). entry_for: the kernel of a node, or null.
void FuseNext(Lowered& lowered, const std::function<const KernelEntry*(const PlanNode&)>& entry_for,
              const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
