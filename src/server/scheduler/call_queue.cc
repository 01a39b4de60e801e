#include "server/scheduler/call_queue.h"

#include <algorithm>

namespace tern::server {
namespace {

// Turns are integers, so that they do not lose precision in a queue that is never empty.
constexpr uint64_t kTurnsPerItem = uint64_t{1} << 20;

// Returns the time-out of a request. A request may shorten the model's default but not extend it.
std::chrono::microseconds TimeoutOf(const QueuePolicy& policy, std::chrono::microseconds requested) {
  if (!policy.allow_timeout_override || requested.count() <= 0) return policy.default_timeout;
  return policy.default_timeout.count() > 0 ? std::min(policy.default_timeout, requested) : requested;
}

// Returns the time at which the time-out of a request that is pushed now ends, or kNever.
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

uint64_t CallQueue::Level::NextTurn(uint32_t tenant) const {
  const auto found = tenants.find(tenant);
  return found == tenants.end() ? turn : std::max(turn, found->second.next);
}

Status CallQueue::Push(const QueuedCallPtr& call, Clock::time_point now) {
  const Request& request = call->call->request;
  const uint64_t number = LevelOf(request.priority);
  const QueuePolicy& policy = PolicyOf(number);
  Level& level = levels_[number];
  if (policy.max_queue_size != 0 && level.size() >= policy.max_queue_size)
    return Unavailable("Exceeds maximum queue size");
  Share& share = level.tenants[request.tenant];
  if (policy.max_queue_size > 1 && request.tenant != 0 && share.calls >= policy.max_queue_size / 2)
    return Unavailable("Exceeds the client's half of the maximum queue size");
  call->expires = ExpiryOf(policy, call->call->request, now);
  if (call->expires != kNever) expiries_.emplace(call->expires, call.get());
  call->queued = now;
  call->level_ = number;
  call->waits_ = true;
  call->delayed_ = false;
  const uint64_t turn = level.NextTurn(request.tenant);
  share.next = turn + static_cast<uint64_t>(call->items) * kTurnsPerItem / std::max(1u, request.weight);
  ++share.calls;
  call->place_ = level.waiting.emplace_hint(level.waiting.end(), QueuePlace{turn, ++number_}, call);
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
  --level.tenants[call.call->request.tenant].calls;
  (call.delayed_ ? level.delayed : level.waiting).erase(call.place_);
  if (level.size() > 0) return true;
  level.tenants.clear();
  level.turn = 0;
  return true;
}

void CallQueue::Take(QueuedCall& call) {
  if (!call.waits_) return;
  Level& level = levels_[call.level_];
  if (!call.delayed_) level.turn = std::max(level.turn, call.place_->first.turn);
  Erase(call);
}

void CallQueue::Expire(Clock::time_point now, std::vector<RejectedCall>& rejected) {
  while (!expiries_.empty() && expiries_.begin()->first <= now) {
    QueuedCall& call = *expiries_.begin()->second;
    if (PolicyOf(call.level_).timeout_action == TimeoutAction::kDelay) {
      Level& level = levels_[call.level_];
      expiries_.erase(expiries_.begin());
      auto node = level.waiting.extract(call.place_);
      node.key() = {0, ++number_};
      call.place_ = level.delayed.insert(std::move(node)).position;
      call.delayed_ = true;
      call.expires = kNever;
      continue;
    }
    rejected.push_back({call.place_->second, Unavailable("Request timeout expired"), {}});
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

int64_t CallQueue::ItemsBefore(uint64_t priority, uint32_t tenant) const {
  const uint64_t number = LevelOf(priority);
  int64_t sum = 0;
  for (auto it = levels_.begin(); it != levels_.end() && it->first < number; ++it) sum += it->second.items;
  const auto found = levels_.find(number);
  if (found == levels_.end()) return sum;
  const Level& level = found->second;
  if (level.tenants.empty() || (level.tenants.size() == 1 && level.tenants.contains(tenant)))
    return sum + level.items;
  const uint64_t turn = level.NextTurn(tenant);
  for (const auto& [place, call] : level.waiting) {
    if (place.turn > turn) break;
    sum += call->items;
  }
  return sum;
}

}  // namespace tern::server
