// Finds values that are stored as bf16 in memory.
#pragma once
#include "runtime/plan/layout.h"

namespace tern {

// Returns the slots of f32 values that can be stored as bf16, in half the bytes. The kernel that writes such
// a value and all kernels that read it must support this (KernelAbilities::bf16_storage). Outputs of the
// graph are never stored as bf16.
std::vector<int> FindBf16Storage(const Lowered& lowered, const std::vector<Draft>& drafts,
                                 const std::function<KernelQuery(const PlanNode&)>& query_for);

}  // namespace tern
