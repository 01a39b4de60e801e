#include "runtime/plan/bf16_storage.h"

#include <algorithm>

namespace tern {

std::vector<int> FindBf16Storage(const Lowered& lowered, const std::vector<Draft>& drafts,
                                 const std::function<KernelQuery(const PlanNode&)>& query_for) {
  std::vector<bool> rounded(lowered.slots.size()), refused(lowered.slots.size());
  const auto refuse = [&](int slot) {
    if (slot >= 0) refused[static_cast<size_t>(slot)] = true;
  };
  for (int slot : lowered.outputs) refuse(slot);
  for (const Draft& draft : drafts) {
    const PlanNode& node = *draft.node;
    for (const auto& captures : node.captures) std::for_each(captures.begin(), captures.end(), refuse);
    if (draft.dynamic || !draft.entry || !draft.entry->can.bf16_storage) {
      std::for_each(node.inputs.begin(), node.inputs.end(), refuse);
      continue;
    }
    const KernelQuery query = query_for(node);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!draft.entry->can.bf16_storage(query, static_cast<int>(i))) refuse(node.inputs[i]);
    if (query.OutType(0) == DType::kF32 && draft.entry->can.bf16_storage(query, KernelAbilities::kResult))
      rounded[static_cast<size_t>(node.outputs[0])] = true;
  }
  std::vector<int> slots;
  for (size_t i = 0; i < rounded.size(); ++i)
    if (rounded[i] && !refused[i]) slots.push_back(static_cast<int>(i));
  return slots;
}

}  // namespace tern
