#include "runtime/model/kernel_store.h"

namespace tern {

std::unique_ptr<Kernel> KernelStore::Find(const Key& key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = prepared_.find(key);
  return it == prepared_.end() ? nullptr : it->second->Clone();
}

Result<std::unique_ptr<Kernel>> KernelStore::Prepared(const Node& node, const KernelEntry& entry,
                                                      const KernelQuery& query,
                                                      const std::function<void(int input)>& on_packed,
                                                      const Stop& stop) {
  const Key key(&node, &entry);
  if (auto kernel = Find(key)) return kernel;
  TERN_ASSIGN(const auto preparing, preparing_.Acquire(key, stop, kOtherPacks));
  if (auto kernel = Find(key)) return kernel;
  auto prepared = entry.make();
  size_t bytes = 0;
  PackStore::OfNode packs(packs_, node, entry, query, on_packed, stop);
  PrepareContext context(query, workers_, bytes, node.graph == &graph_ ? &packs : nullptr);
  Status status = prepared->Prepare(context);
  if (!status.ok()) return Status(status.code(), StrCat(node.Describe(), ": ", status.message()));
  if (!context.finished().empty() && entry.can.pack.empty())
    return Status(Code::kInternal, StrCat("kernel ", entry.name, " packs weights but names no pack layout"));
  auto copy = prepared->Clone();
  packs_.Count(bytes - packs.counted());
  for (int i : context.finished()) residency_.SetPacked(node, i, entry.can.pack);
  std::lock_guard<std::mutex> lock(mutex_);
  prepared_.emplace(key, std::move(prepared));
  return copy;
}

}  // namespace tern
