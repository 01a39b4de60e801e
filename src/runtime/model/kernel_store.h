// Stores the prepared kernels of a model, so that Kernel::Prepare runs once per node and entry.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/model/pack_store.h"

namespace tern {

// Thread-safe. The first thread that requests a kernel prepares it, without holding the lock.
class KernelStore {
 public:
  // `graph` is the main graph. Only its nodes share packed weights.
  KernelStore(const Graph& graph, PackStore& packs, Residency& residency, const Workers& workers)
      : graph_(graph), packs_(packs), residency_(residency), workers_(workers) {}

  // Returns a clone of the node's prepared kernel. Waits while another session prepares the same kernel or
  // packs the same weights. If `stop` fires during this wait, the call fails with kCancelled. `stop` does not
  // interrupt packing in this call. For `on_packed`, see PackStore::OfNode.
  Result<std::unique_ptr<Kernel>> Prepared(const Node& node, const KernelEntry& entry,
                                           const KernelQuery& query,
                                           const std::function<void(int input)>& on_packed, const Stop& stop);

 private:
  using Key = std::pair<const Node*, const KernelEntry*>;
  std::unique_ptr<Kernel> Find(const Key& key) const;  // a clone, or null if not prepared yet

  const Graph& graph_;
  PackStore& packs_;
  Residency& residency_;
  const Workers workers_;  // for packing weights
  mutable std::mutex mutex_;
  std::map<Key, std::unique_ptr<Kernel>> prepared_;
  KeyedMutex<Key> preparing_;
};

}  // namespace tern
