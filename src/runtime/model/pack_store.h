// Packed weights of a model, made once and shared by all its kernels, plans and sessions.
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

// Thread-safe. The lock is held for look-ups only. Weights are packed without it, by the first kernel that
// wants them; others that want the same wait for it, and the next of them packs where the first fails.
class PackStore {
 public:
  // loaded: packs that came with the graph. isa: of the target, see PackKey.
  PackStore(Packs loaded, std::string isa, Residency& residency)
      : loaded_(std::move(loaded)), isa_(std::move(isa)), residency_(residency) {}

  // The packs of one node while a kernel is prepared for it. on_packed: called for each input that was
  // packed, before the kernel goes on with others.
  class OfNode : public PrepareContext::Store {
   public:
    OfNode(PackStore& store, const Node& node, const KernelEntry& entry, const KernelQuery& query,
           const std::function<void(int input)>& on_packed, const Stop& stop)
        : store_(store), node_(node), entry_(entry), query_(query), on_packed_(on_packed), stop_(stop) {}
    Result<Tensor> Find(const std::vector<int>& inputs) override;
    void Put(const std::vector<int>& inputs, const Tensor& packed) override;
    size_t counted() const { return counted_; }  // bytes that the store counts: they outlive the kernel

   private:
    friend class PackStore;
    // Layout, weights, their numbers among the node's inputs, and the node's attributes.
    using Key = std::tuple<std::string, std::vector<const Value*>, std::vector<int>, uint64_t>;
    Key KeyOf(const std::vector<int>& inputs) const;
    std::vector<const void*> SourcesOf(const std::vector<int>& inputs) const;

    PackStore& store_;
    const Node& node_;
    const KernelEntry& entry_;
    const KernelQuery& query_;
    const std::function<void(int input)>& on_packed_;
    const Stop& stop_;
    KeyedMutex<Key>::Lock lock_;  // from Find to Keep
    Tensor found_;                // by the last Find
    size_t counted_ = 0;
  };

  // Weights as the kernels prepared so far have them, packed here or loaded.
  Packs packs() const;
  size_t bytes() const;
  void Count(size_t bytes);  // packed outside of the store

 private:
  const Packs loaded_;
  const std::string isa_;
  Residency& residency_;
  mutable std::mutex mutex_;
  std::map<OfNode::Key, Tensor> made_;
  Packs packs_;  // of prepared kernels, whether loaded or packed here
  size_t bytes_ = 0;
  KeyedMutex<OfNode::Key> packing_;
};

// For messages: what a session waits for.
inline constexpr char kOtherPacks[] = "another session that packs the same weights";

}  // namespace tern
