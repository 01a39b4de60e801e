#include "kernel_api/target.h"

namespace tern {

std::vector<const KernelEntry*> Target::KernelsOf(std::string_view op) const {
  std::vector<const KernelEntry*> out;
  for (const Device& device : devices_)
    for (const KernelTable* table : device.tables)
      for (const KernelEntry* entry : table->Of(op)) out.push_back(entry);
  return out;
}

const KernelEntry* Target::Select(const KernelQuery& query, const std::string* pack) const {
  for (const Device& device : devices_) {
    const KernelEntry* best = nullptr;
    for (const KernelTable* table : device.tables) {
      const KernelEntry* entry = table->Select(query, pack);
      if (entry && (!best || EstimatedMicroseconds(*entry, query) < EstimatedMicroseconds(*best, query)))
        best = entry;
    }
    if (best) return best;
  }
  return nullptr;
}

MemorySpace* Target::MemoryOf(const KernelEntry& entry) const {
  for (const Device& device : devices_)
    for (const KernelTable* table : device.tables)
      if (table == entry.table) return device.memory;
  return nullptr;
}

}  // namespace tern
