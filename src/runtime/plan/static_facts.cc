#include "runtime/plan/static_facts.h"

namespace tern {

StaticNode StaticFacts(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  const auto values = [&](const std::vector<int>& list) {
    std::vector<StaticValue> out(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i] < 0) continue;
      const SlotFacts& facts = slots[static_cast<size_t>(list[i])];
      out[i] = {facts.type.dtype, facts.type.shape.Concrete(), facts.is_known() ? &facts.known : nullptr};
    }
    return out;
  };
  return {&node.node().attrs, values(node.inputs), values(node.outputs)};
}

}  // namespace tern
