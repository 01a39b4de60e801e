#include "runtime/model/pack_store.h"

namespace tern {

PackStore::OfNode::Key PackStore::OfNode::KeyOf(const std::vector<int>& inputs) const {
  std::vector<const Value*> weights;
  for (int i : inputs) weights.push_back(node_.input(i));
  return {entry_.can.pack, weights, inputs, HashOf(node_)};
}

std::vector<const void*> PackStore::OfNode::SourcesOf(const std::vector<int>& inputs) const {
  std::vector<const void*> sources;
  for (int i : inputs) sources.push_back(query_.Known(i)->raw());
  return sources;
}

// A pack from a file is used only if it was made from the current bytes of the weights. The optimizer may
// have changed the weights after the file was read.
Result<Tensor> PackStore::OfNode::Find(const std::vector<int>& inputs) {
  const Key key = KeyOf(inputs);
  lock_ = {};  // unlocks the previous key, which is still locked if packing failed
  TERN_ASSIGN(lock_, store_.packing_.Acquire(key, stop_, kOtherPacks));
  found_ = Tensor();
  {
    std::lock_guard<std::mutex> lock(store_.mutex_);
    if (const auto it = store_.packed_.find(key); it != store_.packed_.end()) found_ = it->second;
  }
  if (found_.defined()) return found_;
  const auto it = store_.loaded_.find(PackKey(entry_.can.pack, store_.isa_, node_, inputs));
  if (it != store_.loaded_.end() && it->second.made_from == SourcesOf(inputs)) found_ = it->second.data;
  return found_;
}

void PackStore::OfNode::Put(const std::vector<int>& inputs, const Tensor& packed) {
  const std::string key = PackKey(entry_.can.pack, store_.isa_, node_, inputs);
  {
    std::lock_guard<std::mutex> lock(store_.mutex_);
    const bool first = store_.packed_.emplace(KeyOf(inputs), packed).second;
    if (first && !key.empty()) store_.packs_[key] = {packed, SourcesOf(inputs), {}};
    if (first && packed.raw() != found_.raw()) {
      store_.bytes_ += packed.bytes();
      counted_ += packed.bytes();
    }
  }
  for (int i : inputs) {
    store_.residency_.SetPacked(node_, i, entry_.can.pack);
    if (on_packed_) on_packed_(i);
  }
  lock_ = {};
}

Packs PackStore::packs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return packs_;
}

size_t PackStore::bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

void PackStore::Count(size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  bytes_ += bytes;
}

}  // namespace tern
