#include "runtime/plan/fuse_next.h"

#include <algorithm>

namespace tern {
namespace {

// Stands for a slot whose writer cannot be fused with a reader. The slot is an output of the graph or has
// several readers, or its reader has subgraphs, several inputs or several outputs.
constexpr int kNotFusable = -2;

// Returns for each slot the index of its only reader, -1 if it has no reader, or kNotFusable.
std::vector<int> OnlyReaders(const Lowered& lowered) {
  std::vector<int> readers(lowered.slots.size(), -1);
  const auto read = [&](int slot, int by) {
    if (slot < 0) return;
    int& reader = readers[static_cast<size_t>(slot)];
    reader = reader == -1 ? by : kNotFusable;
  };
  for (size_t i = 0; i < lowered.nodes.size(); ++i) {
    const PlanNode& node = lowered.nodes[i];
    const bool simple = node.inputs.size() == 1 && node.outputs.size() == 1 && node.captures.empty();
    for (int slot : node.inputs) read(slot, simple ? static_cast<int>(i) : kNotFusable);
    for (const auto& captures : node.captures)
      for (int slot : captures) read(slot, kNotFusable);
  }
  for (int slot : lowered.outputs) read(slot, kNotFusable);
  return readers;
}

bool IsStatic(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  const auto fixed = [&](int slot) { return slot < 0 || slots[static_cast<size_t>(slot)].is_static(); };
  return !Varies(node, slots) && std::all_of(node.inputs.begin(), node.inputs.end(), fixed) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), fixed);
}

}  // namespace

void FuseNext(Lowered& lowered, const std::function<const KernelEntry*(const PlanNode&)>& entry_for,
              const std::function<KernelQuery(const PlanNode&)>& query_for) {
  const std::vector<int> readers = OnlyReaders(lowered);
  std::vector<bool> fused(lowered.nodes.size());
  for (size_t i = 0; i < lowered.nodes.size(); ++i) {
    PlanNode& node = lowered.nodes[i];
    if (fused[i] || node.outputs.size() != 1) continue;
    const int intermediate = node.outputs[0], reader = readers[static_cast<size_t>(intermediate)];
    if (reader < 0) continue;
    const PlanNode& next = lowered.nodes[static_cast<size_t>(reader)];
    if (!IsStatic(node, lowered.slots) || !IsStatic(next, lowered.slots)) continue;
    const KernelEntry* entry = entry_for(node);
    if (!entry || !entry->can.fuses_next || !entry->can.fuses_next(query_for(node), query_for(next)))
      continue;
    node.next = next.program;
    node.intermediate = intermediate;
    node.fused_entry = entry;
    node.outputs = next.outputs;
    fused[static_cast<size_t>(reader)] = true;
  }
  size_t count = 0;
  for (size_t i = 0; i < lowered.nodes.size(); ++i) {
    if (fused[i]) continue;
    if (count != i) lowered.nodes[count] = std::move(lowered.nodes[i]);
    ++count;
  }
  lowered.nodes.resize(count);
}

}  // namespace tern
