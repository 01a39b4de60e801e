// Simulates one model with its queue under Poisson load, in virtual time.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include "server/scheduler/feeder.h"
#include "server/scheduler/test_support.h"

namespace tern::server {

struct SimulatedOutcome {
  double goodput = 0;  // answers within the goal, per second
  double offered = 0;  // requests per second
  int64_t answers = 0, late = 0;
  int64_t refused = 0;  // refused on arrival
  int64_t dropped = 0;  // dropped from the queue
  double p99_ms = 0;    // of the answers
  double mean_batch = 0;
};

// The feeder is the real one; the executions are not. `Cost` returns the duration of an execution in ms.
class Simulation {
 public:
  using Cost = std::function<double(int64_t batch, std::mt19937& random)>;

  Simulation(ModelConfig config, milliseconds goal, Cost cost)
      : config_(std::move(config)),
        goal_(goal),
        cost_(std::move(cost)),
        feeder_(MakeQueueFeeder(config_, config_.instances)),
        executions_(static_cast<size_t>(config_.instances)) {}

  void SetCost(Cost cost) { cost_ = std::move(cost); }
  // Each execution first waits this long for a thread that another model uses. Only for models with one
  // instance.
  void SetThreadDelay(double ms) { thread_delay_ = FromMs(ms); }

  // Continues the simulation. The result counts the requests that are answered in this time.
  SimulatedOutcome Run(double rate, double seconds) {
    outcome_ = {};
    latencies_.clear();
    batches_ = items_ = good_ = 0;
    const auto end = now_ + FromMs(seconds * 1e3);
    auto arrival = now_ + Gap(rate);
    while (now_ < end) {
      auto next = std::min({arrival, again_, end});
      for (const Execution& each : executions_)
        if (!each.pick.empty()) next = std::min(next, each.end);
      now_ = next;
      EndExecutions();
      if (arrival <= now_) {
        Arrive();
        outcome_.offered += 1 / seconds;
        arrival = now_ + Gap(rate);
      }
      StartExecutions();
    }
    return Summary(seconds);
  }

 private:
  struct Execution {
    Pick pick;
    Clock::time_point begin, end;
    Clock::duration waited{0};
    int64_t items = 0;
  };

  static Clock::duration FromMs(double ms) {
    return std::chrono::nanoseconds(static_cast<int64_t>(ms * 1e6));
  }
  Clock::duration Gap(double rate) {
    return FromMs(1e3 * std::exponential_distribution<double>(rate)(random_)) + std::chrono::nanoseconds(1);
  }

  void Arrive() {
    const auto queued = std::make_shared<QueuedCall>();
    queued->call = std::make_shared<TestCall>();
    queued->call->request.arrived = now_;
    milliseconds retry_after{0};
    if (!feeder_->Push(queued, now_, retry_after).ok()) ++outcome_.refused;
  }

  // Requests a thread if requests wait. Sets again_ to the time at which the thread is free.
  bool ThreadIsFree() {
    if (thread_delay_.count() == 0 || feeder_->size() == 0 || !executions_[0].pick.empty()) return true;
    if (thread_free_ == kNever) thread_free_ = now_ + thread_delay_;
    if (thread_free_ > now_) again_ = thread_free_;
    return thread_free_ <= now_;
  }

  void StartExecutions() {
    again_ = kNever;
    if (!ThreadIsFree()) return;
    for (size_t i = 0; i < executions_.size(); ++i) {
      Execution& execution = executions_[i];
      if (!execution.pick.empty()) continue;
      std::vector<RejectedCall> rejected;
      execution.pick = feeder_->Take(static_cast<int>(i), now_, rejected);
      outcome_.dropped += static_cast<int64_t>(rejected.size());
      if (execution.pick.empty()) {
        again_ = std::min(again_, execution.pick.again);
        continue;
      }
      execution.waited = thread_delay_;
      thread_free_ = kNever;
      execution.items = static_cast<int64_t>(execution.pick.calls.size());
      execution.begin = now_;
      execution.end = now_ + FromMs(cost_(execution.items, random_));
      feeder_->OnStart(static_cast<int>(i), execution.pick, now_);
    }
  }

  void EndExecutions() {
    for (size_t i = 0; i < executions_.size(); ++i) {
      Execution& execution = executions_[i];
      if (execution.pick.empty() || execution.end > now_) continue;
      feeder_->Done(static_cast<int>(i), execution.pick, static_cast<int>(execution.items),
                    execution.end - execution.begin, execution.waited, now_);
      for (const QueuedCallPtr& call : execution.pick.calls) {
        const auto latency = now_ - call->call->request.arrived;
        latencies_.push_back(std::chrono::duration<double, std::milli>(latency).count());
        ++(latency <= goal_ ? good_ : outcome_.late);
      }
      ++batches_;
      items_ += execution.items;
      execution.pick = {};
    }
  }

  SimulatedOutcome Summary(double seconds) {
    outcome_.answers = items_;
    outcome_.goodput = static_cast<double>(good_) / seconds;
    outcome_.mean_batch = batches_ ? static_cast<double>(items_) / static_cast<double>(batches_) : 0;
    std::sort(latencies_.begin(), latencies_.end());
    if (!latencies_.empty()) outcome_.p99_ms = latencies_[latencies_.size() * 99 / 100];
    return outcome_;
  }

  const ModelConfig config_;
  const milliseconds goal_;
  Cost cost_;
  const std::unique_ptr<Feeder> feeder_;
  std::vector<Execution> executions_;
  std::mt19937 random_{7};
  Clock::time_point now_ = Clock::now(), again_ = kNever, thread_free_ = kNever;
  Clock::duration thread_delay_{0};
  std::vector<double> latencies_;
  int64_t batches_ = 0, items_ = 0, good_ = 0;
  SimulatedOutcome outcome_;
};

}  // namespace tern::server
