// Which values lie in memory as bf16.
#pragma once
#include "runtime/layout.h"

namespace tern {

// Slots of f32 values that the kernel which makes them can round and all kernels which read them can widen,
// or would round anyway (KernelEntry::narrow): half the bytes. Outputs of the graph are not among them.
std::vector<int> FindNarrow(const Lowered& lowered, const std::vector<Draft>& drafts,
                            const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
