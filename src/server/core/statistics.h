// Counts and durations per model version, for the statistics extension, for Prometheus and for `tern top`.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "server/core/call.h"

namespace tern::server {

struct Duration {
  uint64_t count = 0;
  uint64_t ns = 0;
};

// A histogram of durations from 1 µs to 100 s. Each bucket ends about 5 % above the one before it.
class LatencyHistogram {
 public:
  static constexpr int kBuckets = 384;
  void Add(std::chrono::nanoseconds duration);
  uint64_t count() const;
  uint64_t sum_ns() const { return sum_ns_.load(std::memory_order_relaxed); }
  // Returns the upper end of the bucket that contains this quantile, in ns, or 0 if the histogram is empty.
  uint64_t Quantile(double q) const;
  // Returns the number of durations that are at most `ns`, where `ns` is rounded up to the end of a bucket.
  uint64_t CountUpTo(uint64_t ns) const;

 private:
  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> sum_ns_{0};
};

enum class Phase { kRequest, kParse, kQueue, kInput, kCompute, kOutput, kCache };
inline constexpr int kPhases = 7;
const char* PhaseName(Phase phase);  // "request"
enum class FailReason { kRejected, kCancelled, kBackend, kOther };
inline constexpr int kFailReasons = 4;

struct BatchStatistics {
  Duration input, compute, output;
};

// A consistent copy of all counts, for the statistics extension.
struct StatisticsSnapshot {
  uint64_t last_inference_ms = 0;  // since the epoch
  uint64_t inference_count = 0, execution_count = 0;
  Duration success, fail, queue, compute_input, compute_infer, compute_output;
  Duration cache_hit, cache_miss;          // searches; cache_miss.ns includes the storing of responses
  std::map<int, BatchStatistics> batches;  // by batch size
  std::array<uint64_t, kFailReasons> failures{};
  uint64_t cpu_ns = 0;  // processor time of executions
};

// Thread-safe.
class ModelStatistics {
 public:
  // AddSuccess or AddFailure is called once per call, just before its final response is sent. The phases of a
  // call that is executed several times are sums. `items` is the size of the batch dim, or 1 if there is no
  // batch dim.
  void AddSuccess(const CallTimes& times, Clock::time_point arrived, int items);
  void AddFailure(const CallTimes& times, Clock::time_point arrived, FailReason reason);
  // Called instead of AddSuccess for a call that the response cache answers.
  void AddCacheHit(const CallTimes& times, Clock::time_point arrived);
  // Called for each search that found nothing, with `count` 1. Called again when the response is stored, with
  // `count` 0.
  void AddCacheMiss(std::chrono::nanoseconds duration, uint64_t count);
  // Called after each execution. `cpu` is the processor time of all threads that the execution used.
  void AddExecution(int batch_size, std::chrono::nanoseconds input, std::chrono::nanoseconds compute,
                    std::chrono::nanoseconds output, std::chrono::nanoseconds cpu);
  StatisticsSnapshot Snapshot() const;
  const LatencyHistogram& histogram(Phase phase) const { return histograms_[static_cast<size_t>(phase)]; }

 private:
  mutable std::mutex mutex_;
  StatisticsSnapshot totals_;
  std::array<LatencyHistogram, kPhases> histograms_;
};

}  // namespace tern::server
