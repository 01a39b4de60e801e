#include "server/scheduler/call_queue.h"

#include <algorithm>

namespace tern::server {
namespace {

// Returns the time-out of a request. A request may shorten the model's default but not extend it.
std::chrono::microseconds TimeoutOf(const QueuePolicy& policy, std::chrono::microseconds requested) {
  if (!policy.allow_timeout_override || requested.count() <= 0) return policy.default_timeout;
  return policy.default_timeout.count() > 0 ? std::min(policy.default_timeout, requested) : requested;
}

// Returns when the time-out of a request that is pushed now ends, or kNever.
Clock::time_point ExpiryOf(const QueuePolicy& policy, const Request& request, Clock::time_point now) {
  const auto timeout = TimeoutOf(policy, request.timeout);
  // A time-out of a year or more is ignored, because its sum with the current time could overflow.
  return timeout.count() > 0 && timeout < std::chrono::hours(24 * 365) ? now + timeout : kNever;
}

}  // namespace

uint64_t CallQueue::LevelOf(uint64_t priority) const {
  if (config_.priority_levels == 0) return 0;
  const bool valid = priority >= 1 && priority <= config_.priority_levels;
  return valid ? priority : std::clamp<uint64_t>(config_.default_priority, 1, config_.priority_levels);
}

const QueuePolicy& CallQueue::PolicyOf(uint64_t level) const {
  const auto found = config_.priority_policies.find(level);
  return found == config_.priority_policies.end() ? config_.default_policy : found->second;
}

Status CallQueue::Push(const QueuedCallPtr& call, Clock::time_point now) {
  const uint64_t number = LevelOf(call->call->request.priority);
  const QueuePolicy& policy = PolicyOf(number);
  Level& level = levels_[number];
  if (policy.max_queue_size != 0 && level.waiting.size() + level.delayed.size() >= policy.max_queue_size)
    return Unavailable("Exceeds maximum queue size");
  call->expires = ExpiryOf(policy, call->call->request, now);
  if (call->expires != kNever) expiries_.emplace(call->expires, call.get());
  call->queued = now;
  call->level_ = number;
  call->waits_ = true;
  call->delayed_ = false;
  call->place_ = level.waiting.insert(level.waiting.end(), call);
  level.items += call->items;
  items_ += call->items;
  ++size_;
  return {};
}

Clock::time_point CallQueue::RejectedAt(const Request& request, Clock::time_point now) const {
  const QueuePolicy& policy = PolicyOf(LevelOf(request.priority));
  return policy.timeout_action == TimeoutAction::kReject ? ExpiryOf(policy, request, now) : kNever;
}

void CallQueue::Forget(QueuedCall& call) {
  const auto [first, last] = expiries_.equal_range(call.expires);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == &call; });
  if (found != last) expiries_.erase(found);
}

bool CallQueue::Erase(QueuedCall& call) {
  if (!call.waits_) return false;
  call.waits_ = false;
  if (call.expires != kNever) Forget(call);
  Level& level = levels_[call.level_];
  level.items -= call.items;
  items_ -= call.items;
  --size_;
  (call.delayed_ ? level.delayed : level.waiting).erase(call.place_);
  return true;
}

void CallQueue::Expire(Clock::time_point now, std::vector<RejectedCall>& rejected) {
  while (!expiries_.empty() && expiries_.begin()->first <= now) {
    QueuedCall& call = *expiries_.begin()->second;
    if (PolicyOf(call.level_).timeout_action == TimeoutAction::kDelay) {
      Level& level = levels_[call.level_];
      expiries_.erase(expiries_.begin());
      level.delayed.splice(level.delayed.end(), level.waiting, call.place_);
      call.delayed_ = true;
      call.expires = kNever;
      continue;
    }
    rejected.push_back({*call.place_, Unavailable("Request timeout expired"), {}});
    Erase(call);
  }
}

std::vector<QueuedCallPtr> CallQueue::Clear() {
  std::vector<QueuedCallPtr> all;
  all.reserve(size_);
  ForEach([&](const QueuedCallPtr& call) {
    all.push_back(call);
    return true;
  });
  for (const QueuedCallPtr& call : all) Erase(*call);
  return all;
}

int64_t CallQueue::ItemsBefore(uint64_t priority) const {
  int64_t sum = 0;
  for (auto it = levels_.begin(); it != levels_.end() && it->first <= LevelOf(priority); ++it)
    sum += it->second.items;
  return sum;
}

}  // namespace tern::server
