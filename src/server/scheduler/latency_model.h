// Learns how long an execution takes by its batch size, and plans for a latency goal with it.
#pragma once
#include <chrono>
#include <optional>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// Decayed mean and 95th percentile of the execution time per batch size. Sizes that were not seen lately are
// estimated from their neighbours. Not thread-safe.
class LatencyModel {
 public:
  explicit LatencyModel(int max_batch_size);
  void Record(int batch_size, std::chrono::nanoseconds duration, Clock::time_point now);
  bool empty() const { return total_ == 0; }
  double Mean(int batch_size) const;  // ns; 0 if nothing is known
  double P95(int batch_size) const;
  bool Known(int batch_size) const;  // measured lately

 private:
  struct Size {
    double mean = 0, p95 = 0;
    int count = 0;
    Clock::time_point last;
  };
  double Estimate(int batch_size, double Size::*value) const;

  std::vector<Size> sizes_;  // by batch size - 1
  uint64_t total_ = 0;
  Clock::time_point now_;  // of the last record
};

struct Refusal {
  std::chrono::milliseconds retry_after{1};
};

// Chooses the batch size and the delay for most requests within the goal, and refuses what would miss it.
// Not thread-safe.
class LatencyPlan {
 public:
  // allowed: the batch sizes that exist, empty for all. lanes: executions that can run at the same time.
  LatencyPlan(std::chrono::nanoseconds goal, int max_batch_size, std::vector<int> allowed, int lanes);

  void OnArrival(int64_t items, Clock::time_point now);  // measures the rate
  // waited: between the time when the batch could have started and its start.
  void OnExecution(int batch_size, std::chrono::nanoseconds duration, std::chrono::nanoseconds waited,
                   Clock::time_point now);

  int batch_limit() const { return batch_limit_; }
  // When a batch of `items` should start at the latest to serve the present rate. oldest: arrival of its
  // first request.
  Clock::time_point StartBy(int64_t items, Clock::time_point oldest, Clock::time_point now) const;
  // Decides about a new request. ahead: items in the queue before it. free_at: when the next instance is
  // free.
  std::optional<Refusal> Admit(Clock::time_point arrived, int64_t ahead, Clock::time_point free_at,
                               Clock::time_point now) const;
  // True if a request that waits cannot meet the goal any more.
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
