// Finds values that are stored as bf16 in memory.
#pragma once
#include "runtime/plan/layout.h"

namespace tern {

// Slots of f32 values that can be stored as bf16, in half the bytes: the kernel that writes them can round,
// and all kernels that read them can widen or would round anyway (KernelAbilities::bf16_storage). Never
// outputs of the graph.
std::vector<int> FindBf16Storage(const Lowered& lowered, const std::vector<Draft>& drafts,
                                 const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
