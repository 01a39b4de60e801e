// Learns how the execution time depends on the batch size, and plans batches for a latency goal.
#pragma once
#include <chrono>
#include <optional>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// The decayed mean and 95th percentile of the execution time for each batch size. A size without a recent
// measurement is estimated from the neighbouring sizes. Not thread-safe.
class LatencyModel {
 public:
  explicit LatencyModel(int max_batch_size);
  void Record(int batch_size, std::chrono::nanoseconds duration, Clock::time_point now);
  bool empty() const { return total_ == 0; }
  double Mean(int batch_size) const;  // ns; 0 if there is no measurement of any size
  double P95(int batch_size) const;
  bool Known(int batch_size) const;  // whether there is a recent measurement of this size

 private:
  struct Size {
    double mean = 0, p95 = 0;
    int count = 0;
    Clock::time_point last;
  };
  double Estimate(int batch_size, double Size::*value) const;

  std::vector<Size> sizes_;  // sizes_[n - 1] is for batch size n
  uint64_t total_ = 0;
  Clock::time_point now_;  // the time of the last Record
};

struct Refusal {
  std::chrono::milliseconds retry_after{1};
};

// Chooses the batch size with the highest throughput whose latency meets the goal, and how long a batch waits
// for more requests. Refuses requests that would miss the goal. Not thread-safe.
class LatencyPlan {
 public:
  // `allowed` has the allowed batch sizes. It is empty if all sizes are allowed. `lanes` is the number of
  // executions that can run at the same time.
  LatencyPlan(std::chrono::nanoseconds goal, int max_batch_size, std::vector<int> allowed, int lanes);

  void OnArrival(int64_t items, Clock::time_point now);  // updates the measured rate
  // `waited` is the time from when the batch could have started until its start.
  void OnExecution(int batch_size, std::chrono::nanoseconds duration, std::chrono::nanoseconds waited,
                   Clock::time_point now);

  int batch_limit() const { return batch_limit_; }
  // Returns the latest time at which a batch of `items` should start to keep up with the current rate.
  // `oldest` is the arrival of its first request.
  Clock::time_point StartBy(int64_t items, Clock::time_point oldest, Clock::time_point now) const;
  // Decides whether to accept a new request. Returns nullopt if it is accepted. `ahead` is the number of
  // items that are queued before it. free_at is when the next instance becomes free.
  std::optional<Refusal> Admit(Clock::time_point arrived, int64_t ahead, Clock::time_point free_at,
                               Clock::time_point now) const;
  // Returns whether a waiting request can no longer meet the goal.
  bool TooLate(Clock::time_point arrived, Clock::time_point now) const;
  std::chrono::nanoseconds ExpectedDuration(int64_t items) const;

 private:
  int Padded(int64_t items) const;
  void Choose();

  const double goal_;  // ns
  const int max_batch_size_, lanes_;
  std::vector<int> allowed_;
  LatencyModel model_;
  int batch_limit_;
  double dispatch_ns_ = 0;
  double rate_ = 0;  // items per ns
  uint64_t executions_ = 0;
  int64_t window_items_ = 0;
  Clock::time_point window_;
};

}  // namespace tern::server
