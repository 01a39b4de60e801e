#include "runtime/plan/plan_store.h"

#include <algorithm>

namespace tern {
namespace {

// Returns the cache key of these values. Values with different keys have different plans. For values with
// equal keys, Plan::Matches decides whether they share a plan.
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

std::shared_ptr<const Plan> PlanStore::Find(const Key& key, const Request& request) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = plans_.find(key);
  std::shared_ptr<const Plan> plan = it == plans_.end() ? nullptr : it->second.lock();
  if (!plan || !plan->Matches(request.bound, request.length)) return nullptr;
  auto& recent = recent_[key.first];
  const auto it_recent = std::find(recent.begin(), recent.end(), plan);
  if (it_recent != recent.end()) recent.splice(recent.begin(), recent, it_recent);
  return plan;
}

void PlanStore::Insert(const Key& key, const std::shared_ptr<const Plan>& plan, int capacity) {
  std::shared_ptr<const Plan> oldest;  // freed after the lock is released
  std::lock_guard<std::mutex> lock(mutex_);
  ++made_;
  std::erase_if(plans_, [](const auto& row) { return row.second.expired(); });
  plans_[key] = plan;
  auto& recent = recent_[key.first];
  recent.push_front(plan);
  if (static_cast<int>(recent.size()) <= capacity) return;
  oldest = std::move(recent.back());
  recent.pop_back();
}

Result<std::shared_ptr<const Plan>> PlanStore::Get(const Request& request, int capacity, const Stop& stop,
                                                   const Make& make) {
  const Key key(&request.program, request.range ? request.range->ToString() : ShapesOf(request.bound));
  if (auto plan = Find(key, request)) return plan;
  TERN_ASSIGN(const auto making, making_.Acquire(key, stop, "another session that compiles the plan"));
  if (auto plan = Find(key, request)) return plan;
  if (request.range) TERN_TRY(Refusal(key));
  auto plan = make();
  if (plan.ok())
    Insert(key, *plan, capacity);
  else if (request.range && plan.status().code() == Code::kUnsupported)
    Refuse(key, plan.status());
  return plan;
}

Status PlanStore::Refusal(const Key& key) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = refused_.find(key);
  return it == refused_.end() ? Status() : it->second;
}

void PlanStore::Refuse(const Key& key, const Status& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  refused_.emplace(key, why);
}

int PlanStore::made() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

}  // namespace tern
