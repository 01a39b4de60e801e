#include "server/residency/holding_version.h"

#include <algorithm>
#include <thread>

#include "server/core/not_ready.h"
#include "server/scheduler/call_queue.h"
#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kDrainPoll{2};

// Returns the time until which a request that arrives now waits. Unlike in the queue of a loaded model, the
// time-out of the request always counts.
Clock::time_point ExpiryOf(const ModelConfig& config, const Request& request, Clock::time_point now) {
  std::chrono::microseconds timeout = request.timeout;
  if (config.batching) {
    const auto usual = config.batching->default_policy.default_timeout;
    if (usual.count() > 0 && (timeout.count() <= 0 || usual < timeout)) timeout = usual;
  }
  const bool limited = timeout.count() > 0 && timeout < std::chrono::hours(24 * 365);
  return limited ? now + timeout : kNever;
}

}  // namespace

void HoldingVersion::DescribeLike(const ModelVersion& other) {
  if (!other.signatures()) return;
  signatures_ = *other.signatures();
  for (Signature& signature : *signatures_)
    if (signature.model)
      signature.model = std::make_shared<HoldingVersion>(signature.model->config(), version(), timer_);
}

HoldingVersion::~HoldingVersion() { Refuse(NotReady(*this)); }

void HoldingVersion::Submit(std::shared_ptr<Call> call) {
  if (const Lease target = lease()) {
    OnHit();
    return (*target)->Submit(std::move(call));
  }
  Hold(call);
}

void HoldingVersion::Hold(const std::shared_ptr<Call>& call) {
  const Clock::time_point now = Clock::now();
  SetTimes(call->times, now);
  const Held held{call, now, ExpiryOf(config(), call->request, now)};
  // As in a queue, the action is set before the call can be taken out of the list by another thread.
  call->OnCancel([weak = weak_from_this(), raw = call.get()] {
    if (const auto self = weak.lock()) self->Cancel(*raw);
  });
  Lease target;
  bool refused = false, arm = false;
  {
    const std::lock_guard lock(mutex_);
    target = target_;
    refused = refusing_;
    if (!target && !refused) list_.push_back(held);
    if (!target && !refused && held.expires < armed_) armed_ = held.expires, arm = true;
  }
  if (target) return Forward(held, **target);
  if (refused) return Answer(held, NotReady(*this), FailReason::kRejected);
  if (arm) timer_->Add(held.expires, weak_from_this());
  OnWait();
  if (call->cancelled()) Cancel(*call);
}

void HoldingVersion::Forward(Held held, ModelVersion& target) {
  const Clock::time_point now = Clock::now();
  held.call->times.held += now - held.since;
  OnForward(now - held.since);
  std::chrono::microseconds& timeout = held.call->request.timeout;
  if (timeout.count() > 0) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(held.expires - now);
    if (held.expires != kNever) timeout = std::max(std::chrono::microseconds(1), std::min(timeout, left));
  }
  held.call->OnCancel({});  // the target sets its own action
  target.Submit(std::move(held.call));
}

void HoldingVersion::Answer(const Held& held, const Status& status, FailReason reason,
                            std::chrono::milliseconds retry_after) {
  Call& call = *held.call;
  call.times.held += Clock::now() - held.since;
  call.times.finished = Clock::now();
  statistics().AddFailure(call.times, call.request.arrived, reason);
  Response response;
  response.status = status;
  response.retry_after = retry_after;
  call.Respond(std::move(response));
}

void HoldingVersion::Cancel(const Call& call) {
  List taken;
  {
    const std::lock_guard lock(mutex_);
    const auto found =
        std::find_if(list_.begin(), list_.end(), [&](const Held& held) { return held.call.get() == &call; });
    if (found == list_.end()) return;
    taken.splice(taken.end(), list_, found);
  }
  Answer(taken.front(), Status(Code::kCancelled, "the request was cancelled"), FailReason::kCancelled);
}

void HoldingVersion::Expire(Clock::time_point now) {
  List taken;
  Clock::time_point first = kNever;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = list_.begin(); it != list_.end();) {
      const auto next = std::next(it);
      if (it->expires <= now)
        taken.splice(taken.end(), list_, it);
      else
        first = std::min(first, it->expires);
      it = next;
    }
    armed_ = first;
  }
  if (first != kNever) timer_->Add(first, weak_from_this());
  for (const Held& held : taken)
    Answer(held, Unavailable("Request timeout expired while model '", config().name, "' was being loaded"),
           FailReason::kRejected);
}

void HoldingVersion::Open(const std::shared_ptr<ModelVersion>& target) {
  const Lease lease = std::make_shared<const std::shared_ptr<ModelVersion>>(target);
  List taken;
  {
    const std::lock_guard lock(mutex_);
    target_ = lease;
    taken.swap(list_);
  }
  for (Held& held : taken) Forward(std::move(held), *target);
}

Lease HoldingVersion::Close() {
  const std::lock_guard lock(mutex_);
  return std::move(target_);
}

void HoldingVersion::Refuse(const Status& status, std::chrono::milliseconds retry_after) {
  List taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(list_);
  }
  for (const Held& held : taken) Answer(held, status, FailReason::kRejected, retry_after);
}

Lease HoldingVersion::lease() const {
  const std::lock_guard lock(mutex_);
  return target_;
}

size_t HoldingVersion::held() const {
  const std::lock_guard lock(mutex_);
  return list_.size();
}

bool HoldingVersion::RefuseIfOverloaded(Call& call) {
  const Lease target = lease();
  return target && (*target)->RefuseIfOverloaded(call);
}

size_t HoldingVersion::MemoryBytes() const {
  const Lease target = lease();
  return target ? (*target)->MemoryBytes() : 0;
}

// A version without a target is loaded by the first request.
bool HoldingVersion::Ready() const {
  const Lease target = lease();
  return !target || (*target)->Ready();
}

std::shared_ptr<const ModelProcess> HoldingVersion::process() const {
  const Lease target = lease();
  return target ? (*target)->process() : nullptr;
}

uint64_t HoldingVersion::Hangs() const {
  const Lease target = lease();
  return target ? (*target)->Hangs() : 0;
}

size_t HoldingVersion::Pending() const {
  const Lease target = lease();
  return held() + (target ? (*target)->Pending() : 0);
}

std::vector<std::pair<std::string, double>> HoldingVersion::Metrics() const {
  const Lease target = lease();
  return target ? (*target)->Metrics() : std::vector<std::pair<std::string, double>>();
}

bool HoldingVersion::Drained() const {
  const Lease target = lease();
  const auto* removable = target ? dynamic_cast<const Removable*>(target->get()) : nullptr;
  return held() == 0 && (!removable || removable->Drained());
}

void HoldingVersion::Drain(std::chrono::milliseconds limit, bool refuse) {
  const auto end =
      Clock::now() + std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
  };
  if (refuse) {
    const std::lock_guard lock(mutex_);
    refusing_ = true;
  }
  while (held() > 0 && left().count() > 0) std::this_thread::sleep_for(kDrainPoll);
  if (held() > 0) {
    {
      const std::lock_guard lock(mutex_);
      refusing_ = true;
    }
    Refuse(NotReady(*this));
  }
  const Lease target = lease();
  if (auto* removable = target ? dynamic_cast<Removable*>(target->get()) : nullptr)
    removable->Drain(left(), refuse);
}

}  // namespace tern::server
