#include "server/core/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace tern::server {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(LatencyHistogram, QuantilesAreWithinFivePercent) {
  for (double ns = 1e3; ns < 1e11; ns *= 1.37) {
    LatencyHistogram histogram;
    histogram.Add(nanoseconds(static_cast<int64_t>(ns)));
    const auto quantile = static_cast<double>(histogram.Quantile(0.5));
    EXPECT_GE(quantile, std::floor(ns) - 1);
    EXPECT_LE(quantile, ns * 1.05);
  }
}

TEST(LatencyHistogram, QuantilesOfAUniformDistribution) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(microseconds(i));
  EXPECT_EQ(histogram.count(), 1000u);
  EXPECT_EQ(histogram.sum_ns(), 500500000u);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 1.0})
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(q)), q * 1e6, q * 1e6 * 0.05) << q;
  EXPECT_NEAR(static_cast<double>(histogram.CountUpTo(500'000)), 500, 26);
  EXPECT_EQ(histogram.CountUpTo(2'000'000), 1000u);
}

TEST(LatencyHistogram, AcceptsAnyDuration) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
  histogram.Add(nanoseconds(-5));
  histogram.Add(nanoseconds(0));
  histogram.Add(nanoseconds::max());
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.Quantile(0), 1000u);
  EXPECT_GE(histogram.Quantile(1), 100'000'000'000u);
  EXPECT_EQ(histogram.Quantile(std::nan("")), histogram.Quantile(1));
  EXPECT_EQ(histogram.CountUpTo(0), 2u);
  EXPECT_EQ(histogram.CountUpTo(UINT64_MAX), 3u);
}

CallTimes Times(Clock::time_point begin) {
  return {begin + microseconds(10), begin + microseconds(30), begin + microseconds(30),
          begin + microseconds(35), begin + microseconds(75), begin + microseconds(80)};
}

TEST(ModelStatistics, AddsEarlierExecutions) {
  ModelStatistics statistics;
  const auto arrived = Clock::now();
  CallTimes times = Times(arrived);
  times.earlier = {microseconds(1), microseconds(2), microseconds(3), microseconds(4)};
  statistics.AddSuccess(times, arrived, 1);
  const auto s = statistics.Snapshot();
  EXPECT_EQ(s.inference_count, 1u);
  EXPECT_EQ(s.success.ns, 80'000u);
  EXPECT_EQ(s.queue.ns, 21'000u);
  EXPECT_EQ(s.compute_input.ns, 7'000u);
  EXPECT_EQ(s.compute_infer.ns, 43'000u);
  EXPECT_EQ(s.compute_output.ns, 9'000u);
  EXPECT_EQ(s.queue.count, 1u);
}

TEST(ModelStatistics, AddsPhasesOfASuccess) {
  ModelStatistics statistics;
  const auto arrived = Clock::now();
  statistics.AddSuccess(Times(arrived), arrived, 3);
  statistics.AddExecution(3, microseconds(5), microseconds(40), microseconds(5), microseconds(42));
  const auto s = statistics.Snapshot();
  EXPECT_EQ(s.inference_count, 3u);
  EXPECT_EQ(s.execution_count, 1u);
  EXPECT_EQ(s.success.count, 1u);
  EXPECT_EQ(s.success.ns, 80'000u);
  EXPECT_EQ(s.queue.ns, 20'000u);
  EXPECT_EQ(s.compute_input.ns, 5'000u);
  EXPECT_EQ(s.compute_infer.ns, 40'000u);
  EXPECT_EQ(s.compute_output.ns, 5'000u);
  EXPECT_EQ(s.batches.at(3).compute.ns, 40'000u);
  EXPECT_EQ(s.cpu_ns, 42'000u);
  EXPECT_GT(s.last_inference_ms, 0u);
  EXPECT_EQ(statistics.histogram(Phase::kParse).sum_ns(), 10'000u);
}

TEST(ModelStatistics, CountsFailuresByReason) {
  ModelStatistics statistics;
  const auto arrived = Clock::now();
  statistics.AddFailure(Times(arrived), arrived, FailReason::kCancelled);
  statistics.AddFailure(Times(arrived), {}, FailReason::kRejected);  // {}: the arrival is not known
  const auto s = statistics.Snapshot();
  EXPECT_EQ(s.fail.count, 2u);
  EXPECT_EQ(s.fail.ns, 150'000u);
  EXPECT_EQ(s.failures[static_cast<size_t>(FailReason::kCancelled)], 1u);
  EXPECT_EQ(s.failures[static_cast<size_t>(FailReason::kRejected)], 1u);
  EXPECT_EQ(s.inference_count, 0u);
}

TEST(ModelStatistics, CountsFromManyThreads) {
  ModelStatistics statistics;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const auto now = Clock::now();
      for (int i = 0; i < 1000; ++i) statistics.AddSuccess(Times(now), now, 1);
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(statistics.Snapshot().success.count, 4000u);
  EXPECT_EQ(statistics.histogram(Phase::kRequest).count(), 4000u);
}

}  // namespace
}  // namespace tern::server
