// Fuses a node with the node that reads its result, such as a convolution with the pooling after it. The
// intermediate value is never stored.
#pragma once
#include <functional>

#include "runtime/plan/lower.h"

namespace tern {

// Fuses two nodes if the second node is the only reader of the first node's result, and the kernel of the
// first node can also compute the second node (KernelAbilities::fuses_next). `entry_for` returns the kernel
// of a node, or null if the node must not be fused.
void FuseNext(Lowered& lowered, const std::function<const KernelEntry*(const PlanNode&)>& entry_for,
              const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
