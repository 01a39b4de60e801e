// Caches the packed weights of a model. The kernels, plans and sessions of the model share them.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/keyed_mutex.h"
#include "kernel_api/kernel_table.h"
#include "runtime/model/packs.h"
#include "runtime/model/residency.h"

namespace tern {

// Thread-safe. The first kernel that requests weights packs them, without holding the lock. Other kernels
// that request the same weights wait. If packing fails, the next waiting kernel packs the weights.
class PackStore {
 public:
  // `loaded` contains the packs of the graph's file. `isa` is Target::isa(), which is part of PackKey.
  PackStore(Packs loaded, std::string isa, Residency& residency)
      : loaded_(std::move(loaded)), isa_(std::move(isa)), residency_(residency) {}

  // The store as Kernel::Prepare of one node sees it. Put calls `on_packed` for each of its inputs, so that a
  // weight can be released before the kernel packs other weights.
  class OfNode : public PrepareContext::Store {
   public:
    OfNode(PackStore& store, const Node& node, const KernelEntry& entry, const KernelQuery& query,
           const std::function<void(int input)>& on_packed, const Stop& stop)
        : store_(store), node_(node), entry_(entry), query_(query), on_packed_(on_packed), stop_(stop) {}
    Result<Tensor> Find(const std::vector<int>& inputs) override;
    void Put(const std::vector<int>& inputs, const Tensor& packed) override;
    size_t counted() const { return counted_; }  // packed bytes that are already in bytes()

   private:
    friend class PackStore;
    // A key consists of the pack layout, the weights, the indices of the inputs, and the hash of the node's
    // attributes and subgraphs.
    using Key = std::tuple<std::string, std::vector<const Value*>, std::vector<int>, uint64_t>;
    Key KeyOf(const std::vector<int>& inputs) const;
    std::vector<const void*> SourcesOf(const std::vector<int>& inputs) const;

    PackStore& store_;
    const Node& node_;
    const KernelEntry& entry_;
    const KernelQuery& query_;
    const std::function<void(int input)>& on_packed_;
    const Stop& stop_;
    KeyedMutex<Key>::Lock lock_;  // held from Find to Put
    Tensor found_;                // result of the last Find
    size_t counted_ = 0;
  };

  // Returns the packed weights that the kernels prepared so far use, including weights from the file.
  Packs packs() const;
  size_t bytes() const;
  void Count(size_t bytes);  // adds bytes that a kernel packed without the store

 private:
  const Packs loaded_;
  const std::string isa_;
  Residency& residency_;
  mutable std::mutex mutex_;
  std::map<OfNode::Key, Tensor> packed_;
  Packs packs_;  // result of packs()
  size_t bytes_ = 0;
  KeyedMutex<OfNode::Key> packing_;
};

// Completes the message "it waited for …" of a session that is cancelled while it waits.
inline constexpr char kOtherPacks[] = "another session that packs the same weights";

}  // namespace tern
