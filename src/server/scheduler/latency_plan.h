// Plans batches for a latency goal, and decides which requests are admitted.
#pragma once
#include <chrono>
#include <vector>

#include "server/core/message.h"
#include "server/scheduler/error_margin.h"
#include "server/scheduler/latency_model.h"

namespace tern::server {

struct LatencyPlanOptions {
  std::chrono::nanoseconds goal{0};
  int max_batch_size = 1;
  std::vector<int> allowed;  // batch sizes; empty: all sizes
  int instances = 1;
  int lanes = 1;  // executions that can run at the same time
};

// A request that asks to be admitted.
struct Applicant {
  Clock::time_point arrived;
  Clock::time_point start_by = Clock::time_point::max();  // when its time in the queue ends
  int64_t items = 1;
  int64_t ahead = 0;  // items that are queued before it
};

struct Admission {
  bool admitted = true;
  bool in_time = false;  // the prediction plus the margin meets the goal; an idle model also admits other
                         // requests
  Clock::time_point answered = Clock::time_point::max();  // predicted; max: nothing is known
  std::chrono::milliseconds retry_after{1};               // if it is not admitted
};

// Predicts when a request would be answered: after the rest of the running executions, the batches that are
// queued before it, and its own batch. Refuses the request if the prediction plus a margin exceeds the goal,
// or if it would start after start_by. An idle model admits every request, because otherwise it could never
// learn that it has become faster. The margin follows the errors of past predictions. A controller scales it,
// so that 1 % of the requests that are expected to meet the goal miss it: more misses raise the margin, fewer
// lower it. Other models that share the cores appear as longer executions and as time that executions wait
// for a thread. Both are learned.
//
// Chooses the batch size with the highest throughput for which a request that just missed a batch still meets
// the goal with the next batch. Not thread-safe.
class LatencyPlan {
 public:
  explicit LatencyPlan(LatencyPlanOptions options);

  void OnArrival(int64_t items, Clock::time_point now);  // updates the measured rate
  void OnStart(int instance, int64_t items, Clock::time_point now);
  // Called when the execution on the instance has ended. batch_size is 0 if there is nothing to learn.
  // `waited` is the time from when the batch could have started until its start.
  void OnEnd(int instance, int batch_size, std::chrono::nanoseconds duration, std::chrono::nanoseconds waited,
             Clock::time_point now);
  // Called for each execution and each dropped request. Compares a prediction of Admit with the time of the
  // answer. For a dropped request, `answered` is the earliest time at which it could have been answered.
  void OnPrediction(Clock::time_point predicted, Clock::time_point answered, Clock::time_point now);
  // Adjusts the factor of the margin. `in_time` tells whether a request met the goal. Call it for each
  // request that met the goal, and for each request that missed it although Admission::in_time was true. Do
  // not call it for a request that was predicted to be late and was late: no margin could have prevented
  // that. Requests that were predicted to be late but met the goal do count, so that a margin that is too
  // large shrinks even when only requests to an idle model are admitted.
  void OnAnswer(bool in_time);
  bool InTime(Clock::time_point arrived, Clock::time_point answered) const;

  Admission Admit(const Applicant& applicant, Clock::time_point now) const;
  int batch_limit() const { return batch_limit_; }
  // Returns the latest time at which a batch of `items` should start to keep up with the current rate.
  // `oldest` is the arrival of its first request.
  Clock::time_point StartBy(int64_t items, Clock::time_point oldest, Clock::time_point now) const;
  // Returns whether a request has waited for more than half of the goal and can no longer meet it.
  bool TooLate(Clock::time_point arrived, Clock::time_point now) const;
  // Returns the expected duration of an execution.
  std::chrono::nanoseconds ExpectedDuration(int64_t items) const;

 private:
  struct Running {
    bool busy = false;
    Clock::time_point since;
    double expected = 0;  // ns
  };
  int Padded(int64_t items) const;
  bool Feasible(int size) const;
  int BestSize() const;
  int SizeToTry(int best) const;
  void Choose(Clock::time_point now);
  double MarginOf(double cost) const;
  double StartDelay(int64_t batches, Clock::time_point now) const;

  const double goal_;  // ns
  const int max_batch_size_, lanes_;
  std::vector<int> allowed_;
  LatencyModel model_;
  ErrorMargin margin_;            // in units of the duration of an execution
  double caution_ = 1;            // scales margin_
  std::vector<Running> running_;  // per instance
  int busy_ = 0;                  // instances that run
  int batch_limit_;
  double dispatch_ns_ = 0;
  double rate_ = 0;  // items per ns
  uint64_t executions_ = 0;
  int64_t window_items_ = 0;
  Clock::time_point window_;

  bool trying_ = false;  // batch_limit_ is a size that has to be measured
  int try_factor_ = 2;   // the larger size to try, relative to the best one
  Clock::time_point next_try_;
  std::chrono::seconds try_gap_{1};
};

}  // namespace tern::server
