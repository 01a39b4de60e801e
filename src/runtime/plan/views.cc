#include "runtime/plan/views.h"

#include "runtime/plan/static_facts.h"

namespace tern {
namespace {

using Slots = std::vector<SlotFacts>;

// Converts offsets from elements to bytes. Returns nullopt if an offset is not a whole number of bytes.
std::optional<std::vector<size_t>> ToBytes(DType dtype, const std::optional<std::vector<int64_t>>& elements) {
  if (!elements) return std::nullopt;
  std::vector<size_t> bytes;
  for (const int64_t count : *elements) {
    const int64_t bits = count * BitWidth(dtype);
    if (bits % 8) return std::nullopt;
    bytes.push_back(static_cast<size_t>(bits / 8));
  }
  return bytes;
}

}  // namespace

std::optional<std::vector<size_t>> ViewOffsets(const PlanNode& node, const Slots& slots) {
  const OpDef& op = *node.node().op;
  if (op.Is(kView)) return std::vector<size_t>(node.outputs.size(), 0);
  if (!op.slices || Varies(node, slots))
    return std::nullopt;  // offsets must not depend on the length of a state
  const StaticNode facts = StaticFacts(node, slots);
  return ToBytes(facts.inputs[0].dtype, op.slices(facts));
}

std::optional<std::vector<size_t>> ConcatOffsets(const PlanNode& node, const Slots& slots) {
  const OpDef& op = *node.node().op;
  if (!op.joined_slices || Varies(node, slots)) return std::nullopt;
  const StaticNode facts = StaticFacts(node, slots);
  return ToBytes(facts.outputs[0].dtype, op.joined_slices(facts));
}

}  // namespace tern
