#include "server/core/statistics.h"

#include <algorithm>
#include <cmath>

namespace tern::server {
namespace {

constexpr double kLowest = 1e3;    // ns, the upper end of the first bucket
constexpr double kHighest = 1e11;  // ns, the upper end of the second-to-last bucket
constexpr int kSteps = LatencyHistogram::kBuckets - 2;

double StepsPerOctave() {
  static const double steps = kSteps / std::log2(kHighest / kLowest);
  return steps;
}

// Bucket 0 counts all durations up to 1 µs. The last bucket counts all durations above 100 s.
int BucketOf(double ns) {
  if (ns <= kLowest) return 0;
  const double position = std::ceil(std::log2(ns / kLowest) * StepsPerOctave() - 1e-9);
  return static_cast<int>(std::clamp(position, 1.0, static_cast<double>(kSteps + 1)));
}

uint64_t UpperEnd(int bucket) {
  return static_cast<uint64_t>(std::llround(kLowest * std::exp2(bucket / StepsPerOctave())));
}

std::chrono::nanoseconds Between(Clock::time_point from, Clock::time_point to) {
  return std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(to - from));
}

void Add(Duration& total, std::chrono::nanoseconds ns) {
  ++total.count;
  total.ns += static_cast<uint64_t>(std::max<int64_t>(0, ns.count()));
}

uint64_t MillisecondsSinceEpoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// If the arrival of a request is not known, its time starts when it was queued.
Clock::time_point Begin(const CallTimes& times, Clock::time_point arrived) {
  return arrived == Clock::time_point() ? times.queued : arrived;
}

}  // namespace

void LatencyHistogram::Add(std::chrono::nanoseconds duration) {
  const int64_t ns = std::max<int64_t>(0, duration.count());
  buckets_[static_cast<size_t>(BucketOf(static_cast<double>(ns)))].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(static_cast<uint64_t>(ns), std::memory_order_relaxed);
}

uint64_t LatencyHistogram::count() const {
  uint64_t sum = 0;
  for (const auto& bucket : buckets_) sum += bucket.load(std::memory_order_relaxed);
  return sum;
}

uint64_t LatencyHistogram::Quantile(double q) const {
  const uint64_t total = count();
  if (total == 0) return 0;
  const double wanted = std::ceil((q >= 0 && q <= 1 ? q : 1) * static_cast<double>(total));
  const uint64_t rank = std::clamp<uint64_t>(static_cast<uint64_t>(wanted), 1, total);
  uint64_t sum = 0;
  for (int i = 0; i < kBuckets; ++i) {
    sum += buckets_[static_cast<size_t>(i)].load(std::memory_order_relaxed);
    if (sum >= rank) return UpperEnd(i);
  }
  return UpperEnd(kBuckets - 1);
}

uint64_t LatencyHistogram::CountUpTo(uint64_t ns) const {
  const int last = BucketOf(static_cast<double>(ns));
  uint64_t sum = 0;
  for (int i = 0; i <= last; ++i) sum += buckets_[static_cast<size_t>(i)].load(std::memory_order_relaxed);
  return sum;
}

void ModelStatistics::AddSuccess(const CallTimes& times, Clock::time_point arrived, int items) {
  const Clock::time_point begin = Begin(times, arrived);
  const std::array<std::chrono::nanoseconds, kPhases> phases = {
      Between(begin, times.finished),
      std::max(std::chrono::nanoseconds(0), Between(begin, times.queued) - times.held),
      Between(times.queued, times.started) + times.earlier.queue + times.held,
      Between(times.input, times.compute) + times.earlier.input,
      Between(times.compute, times.output) + times.earlier.compute,
      Between(times.output, times.finished) + times.earlier.output};
  for (size_t i = 0; i < phases.size(); ++i) histograms_[i].Add(phases[i]);
  const std::lock_guard lock(mutex_);
  totals_.last_inference_ms = MillisecondsSinceEpoch();
  totals_.inference_count += static_cast<uint64_t>(std::max(items, 1));
  Add(totals_.success, phases[static_cast<size_t>(Phase::kRequest)]);
  Add(totals_.queue, phases[static_cast<size_t>(Phase::kQueue)]);
  Add(totals_.compute_input, phases[static_cast<size_t>(Phase::kInput)]);
  Add(totals_.compute_infer, phases[static_cast<size_t>(Phase::kCompute)]);
  Add(totals_.compute_output, phases[static_cast<size_t>(Phase::kOutput)]);
}

void ModelStatistics::AddFailure(const CallTimes& times, Clock::time_point arrived, FailReason reason) {
  const std::lock_guard lock(mutex_);
  totals_.last_inference_ms = MillisecondsSinceEpoch();
  Add(totals_.fail, Between(Begin(times, arrived), times.finished));
  ++totals_.failures[static_cast<size_t>(reason)];
}

void ModelStatistics::AddExecution(int batch_size, std::chrono::nanoseconds input,
                                   std::chrono::nanoseconds compute, std::chrono::nanoseconds output,
                                   std::chrono::nanoseconds cpu) {
  const std::lock_guard lock(mutex_);
  ++totals_.execution_count;
  BatchStatistics& batch = totals_.batches[std::max(batch_size, 1)];
  Add(batch.input, input);
  Add(batch.compute, compute);
  Add(batch.output, output);
  totals_.cpu_ns += static_cast<uint64_t>(std::max<int64_t>(0, cpu.count()));
}

StatisticsSnapshot ModelStatistics::Snapshot() const {
  const std::lock_guard lock(mutex_);
  return totals_;
}

}  // namespace tern::server
