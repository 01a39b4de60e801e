#include "runtime/model/residency.h"

#include <algorithm>

namespace tern {

Tensor WithoutData(const Tensor& t) {
  return Tensor::View(Buffer::Borrow(nullptr, t.bytes(), nullptr), t.dtype(), t.dims());
}

Tensor Residency::Weight(int slot) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return program_.weights[static_cast<size_t>(slot)];
}

std::vector<Tensor> Residency::Weights() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return program_.weights;
}

std::optional<std::optional<std::string>> Residency::DecidedPack(const Node& node) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = decided_.find(&node);
  if (it == decided_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::string> Residency::DecidePack(const Node& node, const std::optional<std::string>& pack) {
  std::lock_guard<std::mutex> lock(mutex_);
  return decided_.emplace(&node, pack).first->second;
}

void Residency::SetPacked(const Node& node, int input, const std::string& pack) {
  std::lock_guard<std::mutex> lock(mutex_);
  packed_[{&node, input}] = pack;
}

bool Residency::Release(int slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  Tensor& weight = program_.weights[static_cast<size_t>(slot)];
  if (!may_release_ || !weight.defined() || weight.bytes() < kWorthReleasing || !weight.raw()) return false;
  const Value* value = program_.values[static_cast<size_t>(slot)];
  const bool packed = std::all_of(value->uses.begin(), value->uses.end(), [&](const auto& use) {
    // Another plan may inline a subgraph of this node. Then the nodes of the subgraph read the weight.
    if (!use.first->subgraphs().empty()) return false;
    const auto decided = decided_.find(use.first);
    const auto packed_as = packed_.find({use.first, use.second});
    return decided != decided_.end() && packed_as != packed_.end() && decided->second == packed_as->second;
  });
  if (!packed || value->output_uses > 0) return false;
  for (const auto& [node, i] : value->uses) released_.insert(node);
  weight = WithoutData(weight);
  return true;
}

bool Residency::HasReleased(const Node& node) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return released_.count(&node) > 0;
}

}  // namespace tern
