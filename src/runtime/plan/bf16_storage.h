// Which values lie in memory as bf16.
#pragma once
#include "runtime/plan/layout.h"

namespace tern {

// Slots of f32 values that the kernel which makes them can round and all kernels which read them can widen,
// or would round anyway (KernelAbilities::bf16_storage): half the bytes. Outputs of the graph are not among
// them.
std::vector<int> FindBf16Storage(const Lowered& lowered, const std::vector<Draft>& drafts,
                                 const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
