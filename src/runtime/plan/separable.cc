#include "runtime/plan/separable.h"

#include <algorithm>

#include "ir/batch_items.h"
#include "runtime/plan/static_facts.h"

namespace tern {
namespace {

// Returns whether all operands are static tensors whose elements have at least 8 bits, and all outputs have
// the same number of items.
bool HasPlainItems(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  if (node.outputs.empty() || node.inputs.empty() || node.inputs[0] < 0 || !node.captures.empty())
    return false;
  const auto plain = [&](int slot) {
    if (slot < 0) return true;
    const SlotFacts& facts = slots[static_cast<size_t>(slot)];
    return facts.is_static() && BitWidth(facts.type.dtype) >= 8;
  };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), plain) ||
      !std::all_of(node.outputs.begin(), node.outputs.end(), plain))
    return false;
  const int64_t items = ItemsOf(node, slots);
  return items > 0 && std::all_of(node.outputs.begin(), node.outputs.end(), [&](int slot) {
           const Shape& shape = slots[static_cast<size_t>(slot)].type.shape;
           return shape.rank() > 0 && shape[0].Is(items);
         });
}

}  // namespace

int64_t ItemsOf(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  if (node.outputs.empty()) return 0;
  const SlotFacts& y = slots[static_cast<size_t>(node.outputs[0])];
  if (!y.is_static() || y.type.shape.rank() == 0) return 0;
  return y.type.shape.Concrete()[0];
}

std::optional<std::vector<bool>> ItemInputs(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  const OpDef& op = *node.node().op;
  if (!op.Is(kPure) || !op.batch || !HasPlainItems(node, slots)) return std::nullopt;
  const StaticNode facts = StaticFacts(node, slots);
  BatchItems items(facts);
  if (!op.batch(items)) return std::nullopt;
  for (size_t i = 0; i < items.holds().size(); ++i)
    if (items.holds()[i] && facts.inputs[i].known) return std::nullopt;
  return items.holds();
}

}  // namespace tern
