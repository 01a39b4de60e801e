#include <algorithm>
#include <optional>

#include "server/scheduler/batch_builder.h"
#include "server/scheduler/feeder.h"
#include "server/scheduler/latency_plan.h"

namespace tern::server {
namespace {

class QueueFeeder : public Feeder {
 public:
  QueueFeeder(const ModelConfig& config, int lanes)
      : config_(config), batching_(config.batching.value_or(BatchingConfig())), queue_(batching_) {
    const bool batches = config.max_batch_size > 0 && !config.decoupled;
    if (config.goal.p99.count() > 0)
      plan_.emplace(LatencyPlanOptions{config.goal.p99, batches ? config.max_batch_size : 1,
                                       batching_.allowed_batch_sizes, config.instances, lanes});
    // A latency goal implies batching.
    if (batches && (config.batching || plan_)) limit_ = config.max_batch_size;
    if (batching_.preferred_batch_sizes.empty()) batching_.preferred_batch_sizes = {static_cast<int>(limit_)};
  }

  Status Push(const QueuedCallPtr& call, Clock::time_point now,
              std::chrono::milliseconds& retry_after) override {
    if (plan_) {
      plan_->OnArrival(call->items, now);
      const Request& request = call->call->request;
      const Admission admission =
          plan_->Admit({Arrival(*call, now), queue_.RejectedAt(request, now), call->items,
                        queue_.ItemsBefore(request.priority, request.tenant)},
                       now);
      if (!admission.admitted) return Refusal(admission, retry_after);
      call->predicted = admission.answered;
      call->in_time = admission.in_time;
    }
    return queue_.Push(call, now);
  }

  Status CheckLoad(Clock::time_point arrived, uint32_t tenant, Clock::time_point now,
                   std::chrono::milliseconds& retry_after) override {
    if (!plan_) return {};
    const Admission admission =
        plan_->Admit({ArrivalOr(arrived, now), kNever, 1, queue_.ItemsBefore(1, tenant)}, now);
    if (admission.admitted) return {};
    plan_->OnArrival(1, now);
    return Refusal(admission, retry_after);
  }

  bool Erase(QueuedCall& call) override { return queue_.Erase(call); }
  Clock::time_point NextTimer() const override { return queue_.NextExpiry(); }
  std::vector<QueuedCallPtr> Clear() override { return queue_.Clear(); }
  size_t size() const override { return queue_.size(); }

  void Expire(Clock::time_point now, std::vector<RejectedCall>& rejected) override {
    queue_.Expire(now, rejected);
  }

  Pick Take(int /*instance*/, Clock::time_point now, std::vector<RejectedCall>& rejected) override {
    queue_.Expire(now, rejected);
    if (plan_) DropLate(now, rejected);
    Pick pick;
    if (queue_.empty()) return pick;
    Candidate candidate = Collect();
    const size_t count = plan_ ? PlannedCount(candidate, now, pick) : DynamicCount(candidate, now, pick);
    candidate.calls.resize(count);
    for (const QueuedCallPtr& call : candidate.calls) queue_.Take(*call);
    pick.calls = std::move(candidate.calls);
    return pick;
  }

  void OnStart(int instance, const Pick& pick, Clock::time_point now) override {
    if (!plan_) return;
    int64_t items = 0;
    for (const QueuedCallPtr& call : pick.calls) items += call->items;
    plan_->OnStart(instance, items, now);
  }

  void Done(int instance, const Pick& pick, int batch_size, std::chrono::nanoseconds duration,
            std::chrono::nanoseconds waited, Clock::time_point now) override {
    if (!plan_) return;
    plan_->OnEnd(instance, batch_size, duration, waited, now);
    // The requests of a batch are answered together. The earliest of their predictions is compared with the
    // time of the answer.
    Clock::time_point predicted = kNever;
    for (const QueuedCallPtr& call : pick.calls) {
      predicted = std::min(predicted, call->predicted);
      const bool in_time = plan_->InTime(Arrival(*call, call->queued), now);
      if (in_time || call->in_time) plan_->OnAnswer(in_time);
    }
    plan_->OnPrediction(predicted, now, now);
  }

 private:
  // The longest batch that the front of the queue can form.
  struct Candidate {
    std::vector<QueuedCallPtr> calls;
    int64_t items = 0;
    size_t preferred = 0;               // the first `preferred` calls together have a preferred size; 0: none
    bool complete = false;              // no more requests can join
    Clock::time_point oldest = kNever;  // when the oldest call was queued
    Clock::time_point oldest_arrival = kNever;
  };

  // Not every front end sets the time of arrival.
  static Clock::time_point ArrivalOr(Clock::time_point arrived, Clock::time_point queued) {
    return arrived == Clock::time_point() ? queued : arrived;
  }
  static Clock::time_point Arrival(const QueuedCall& call, Clock::time_point queued) {
    return ArrivalOr(call.call->request.arrived, queued);
  }

  Candidate Collect() const {
    Candidate batch;
    const int64_t limit = plan_ ? std::min<int64_t>(limit_, plan_->batch_limit()) : limit_;
    const auto& preferred = batching_.preferred_batch_sizes;
    const int largest = *std::max_element(preferred.begin(), preferred.end());
    queue_.ForEach([&](const QueuedCallPtr& call) {
      if (!batch.calls.empty() &&
          (batch.items + call->items > limit ||
           !CanShareBatch(config_, batch.calls[0]->call->request, call->call->request))) {
        batch.complete = true;
        return false;
      }
      // If the next call would exceed the largest preferred size, the calls so far count as a preferred size.
      if (batch.preferred == 0 && batch.items + call->items > largest) batch.preferred = batch.calls.size();
      batch.calls.push_back(call);
      batch.items += call->items;
      batch.oldest = std::min(batch.oldest, call->queued);
      batch.oldest_arrival = std::min(batch.oldest_arrival, Arrival(*call, call->queued));
      if (std::find(preferred.begin(), preferred.end(), batch.items) != preferred.end())
        batch.preferred = batch.calls.size();
      batch.complete = batch.items >= limit;
      return !batch.complete;
    });
    return batch;
  }

  // Triton's rules: a batch of a preferred size starts at once. Otherwise all requests start when the oldest
  // has waited for max_queue_delay.
  size_t DynamicCount(const Candidate& batch, Clock::time_point now, Pick& pick) const {
    const auto delay = batching_.max_queue_delay;
    const Clock::time_point due = batch.oldest + delay;
    if (delay.count() > 0 && now >= due) return batch.calls.size();
    if (batch.preferred > 0) return batch.preferred;
    if (batch.complete || delay.count() <= 0) return batch.calls.size();
    pick.again = due;
    return 0;
  }

  size_t PlannedCount(const Candidate& batch, Clock::time_point now, Pick& pick) const {
    const Clock::time_point due =
        batch.complete ? now : plan_->StartBy(batch.items, batch.oldest_arrival, now);
    if (due <= now) return batch.calls.size();
    pick.again = due;
    return 0;
  }

  Status Refusal(const Admission& admission, std::chrono::milliseconds& retry_after) const {
    retry_after = admission.retry_after;
    return ResourceExhausted("model '", config_.name,
                             "' cannot answer within its latency goal: ", queue_.size(), " requests wait");
  }

  // Rejects requests that were admitted but will miss the goal, because they would only delay the others.
  // This happens if executions suddenly take longer.
  void DropLate(Clock::time_point now, std::vector<RejectedCall>& rejected) {
    std::vector<QueuedCallPtr> late;
    queue_.ForEach([&](const QueuedCallPtr& call) {
      if (!plan_->TooLate(Arrival(*call, call->queued), now)) return false;
      late.push_back(call);
      return true;
    });
    for (const QueuedCallPtr& call : late) {
      queue_.Erase(*call);
      if (call->in_time) plan_->OnAnswer(false);
      plan_->OnPrediction(call->predicted, now + plan_->ExpectedDuration(1), now);
      rejected.push_back(
          {call, ResourceExhausted("model '", config_.name, "' cannot answer within its latency goal"),
           std::chrono::milliseconds(1)});
    }
  }

  const ModelConfig& config_;
  BatchingConfig batching_;
  CallQueue queue_;
  std::optional<LatencyPlan> plan_;
  int64_t limit_ = 1;  // items per batch; a request with more items runs alone
};

}  // namespace

std::unique_ptr<Feeder> MakeQueueFeeder(const ModelConfig& config, int lanes) {
  return std::make_unique<QueueFeeder>(config, lanes);
}

}  // namespace tern::server
