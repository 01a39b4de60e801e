// Kernels of a model with their weights packed, prepared once per node and entry.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/model/pack_store.h"

namespace tern {

// Thread-safe; kernels are prepared without the lock, each by the first that wants it.
class KernelStore {
 public:
  // graph: the model's own; only its nodes share packs.
  KernelStore(const Graph& graph, PackStore& packs, Residency& residency, const Workers& workers)
      : graph_(graph), packs_(packs), residency_(residency), workers_(workers) {}

  // A copy of the node's prepared kernel. on_packed: see PackStore::OfNode. stop: ends the wait for another
  // session that prepares the same kernel or packs the same weights, with kCancelled; packing itself is not
  // stopped.
  Result<std::unique_ptr<Kernel>> Prepared(const Node& node, const KernelEntry& entry,
                                           const KernelQuery& query,
                                           const std::function<void(int input)>& on_packed, const Stop& stop);

 private:
  using Key = std::pair<const Node*, const KernelEntry*>;
  std::unique_ptr<Kernel> Find(const Key& key) const;  // a copy; null: there is none

  const Graph& graph_;
  PackStore& packs_;
  Residency& residency_;
  const Workers workers_;  // that pack weights
  mutable std::mutex mutex_;
  std::map<Key, std::unique_ptr<Kernel>> prepared_;
  KeyedMutex<Key> preparing_;
};

}  // namespace tern
