#include "runtime/plan/plan_store.h"

#include <algorithm>

namespace tern {
namespace {

// Values with the same text may share a plan; Plan::Matches decides.
std::string ShapesOf(const std::vector<BoundValue>& bound) {
  std::string text;
  for (const BoundValue& value : bound) {
    const Datum& d = *value.datum;
    text += d.is_tensor() ? d.tensor.Describe() : StrCat("kind ", static_cast<int>(d.kind));
    text += value.known ? "=" : ",";
    if (value.known && d.is_tensor() && d.tensor.dtype() != DType::kString && d.tensor.contiguous())
      text.append(reinterpret_cast<const char*>(d.tensor.raw()), std::min<size_t>(d.tensor.bytes(), 64));
  }
  return text;
}

}  // namespace

std::shared_ptr<const Plan> PlanStore::Find(const Key& key, const Wanted& wanted) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = plans_.find(key);
  std::shared_ptr<const Plan> plan = it == plans_.end() ? nullptr : it->second.lock();
  if (!plan || !plan->Matches(wanted.bound, wanted.length)) return nullptr;
  auto& kept = kept_[key.first];
  const auto place = std::find(kept.begin(), kept.end(), plan);
  if (place != kept.end()) kept.splice(kept.begin(), kept, place);
  return plan;
}

void PlanStore::Insert(const Key& key, const std::shared_ptr<const Plan>& plan, int capacity) {
  std::shared_ptr<const Plan> oldest;  // leaves memory when the lock is free again
  std::lock_guard<std::mutex> lock(mutex_);
  ++made_;
  std::erase_if(plans_, [](const auto& row) { return row.second.expired(); });
  plans_[key] = plan;
  auto& kept = kept_[key.first];
  kept.push_front(plan);
  if (static_cast<int>(kept.size()) <= capacity) return;
  oldest = std::move(kept.back());
  kept.pop_back();
}

Result<std::shared_ptr<const Plan>> PlanStore::Get(const Wanted& wanted, int capacity, const Stop& stop,
                                                   const Make& make) {
  const Key key(&wanted.program, wanted.range ? wanted.range->ToString() : ShapesOf(wanted.bound));
  if (auto plan = Find(key, wanted)) return plan;
  TERN_ASSIGN(const auto making, making_.Acquire(key, stop, "another session, which makes its plan"));
  if (auto plan = Find(key, wanted)) return plan;
  TERN_ASSIGN(auto plan, make());
  Insert(key, plan, capacity);
  return plan;
}

int PlanStore::made() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

}  // namespace tern
