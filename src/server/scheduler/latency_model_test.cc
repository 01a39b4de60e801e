#include "server/scheduler/latency_model.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using std::chrono::nanoseconds;

nanoseconds Curve(int64_t batch) { return microseconds(4000 + 500 * batch); }

TEST(LatencyModel, LearnsMeanAndPercentile) {
  LatencyModel model(8);
  auto now = Clock::now();
  std::mt19937 random(1);
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) {
    const double value = std::normal_distribution<double>(1e6, 1e5)(random);
    values.push_back(value);
    model.Record(4, nanoseconds(static_cast<int64_t>(value)), now += microseconds(100));
  }
  EXPECT_NEAR(model.Mean(4), 1e6, 8e4);
  EXPECT_NEAR(model.P95(4), 1.165e6, 1.2e5);
}

TEST(LatencyModel, EstimatesSizesItHasNotSeen) {
  LatencyModel model(16);
  EXPECT_EQ(model.Mean(3), 0);
  const auto now = Clock::now();
  model.Record(4, nanoseconds(400), now);
  model.Record(8, nanoseconds(600), now);
  EXPECT_EQ(model.Mean(6), 500);
  EXPECT_EQ(model.Mean(1), 400);
  EXPECT_EQ(model.Mean(16), 1200);
  EXPECT_EQ(model.Mean(99), 1200);
  model.Record(-3, nanoseconds(-1), now);  // clamped to the smallest size and the shortest time
  EXPECT_EQ(model.Mean(1), 1);
}

TEST(LatencyModel, ForgetsWhatIsOld) {
  LatencyModel model(8);
  const auto now = Clock::now();
  model.Record(8, nanoseconds(1'000'000), now);
  model.Record(1, nanoseconds(100), now + std::chrono::seconds(6));
  EXPECT_FALSE(model.Known(8));
  EXPECT_EQ(model.Mean(8), 800);
}

LatencyPlan Learned(milliseconds goal, int max_batch, Clock::time_point now, int lanes = 1) {
  LatencyPlan plan(goal, max_batch, {}, lanes);
  for (int round = 0; round < 4; ++round)
    for (int size = 1; size <= max_batch; ++size) plan.OnExecution(size, Curve(size), {}, now);
  return plan;
}

TEST(LatencyPlan, BatchesAsLargeAsTheGoalAllows) {
  const auto now = Clock::now();
  EXPECT_EQ(Learned(milliseconds(100), 16, now).batch_limit(), 16);
  // Two executions of a batch of b items must take at most 90 % of 20 ms, so 4 + b / 2 <= 9. The result is
  // smaller, because the 95th percentile is used instead of the mean.
  EXPECT_NEAR(Learned(milliseconds(20), 16, now).batch_limit(), 9, 2);
  EXPECT_EQ(Learned(milliseconds(1), 16, now).batch_limit(), 1);
}

TEST(LatencyPlan, UsesAllowedSizesOnly) {
  LatencyPlan plan(milliseconds(20), 16, {4, 16}, 1);
  for (int i = 0; i < 3; ++i) {
    plan.OnExecution(4, Curve(4), {}, Clock::now());
    plan.OnExecution(16, Curve(16), {}, Clock::now());
  }
  EXPECT_EQ(plan.batch_limit(), 4);
}

TEST(LatencyPlan, AdmitsWhatCanBeAnsweredInTime) {
  const auto now = Clock::now();
  const LatencyPlan plan = Learned(milliseconds(50), 16, now);
  EXPECT_FALSE(plan.Admit(now, 0, now, now));
  EXPECT_FALSE(plan.Admit(now, 16, now + milliseconds(10), now));
  const auto refusal = plan.Admit(now, 160, now + milliseconds(10), now);
  ASSERT_TRUE(refusal);
  EXPECT_GE(refusal->retry_after, milliseconds(50));
  EXPECT_LE(refusal->retry_after, milliseconds(150));
  EXPECT_TRUE(plan.Admit(now - milliseconds(45), 16, now + milliseconds(10), now))
      << "the request arrived 45 ms ago";
  EXPECT_FALSE(LatencyPlan(milliseconds(1), 4, {}, 1).Admit(now, 1000, now, now)) << "nothing is known";
}

TEST(LatencyPlan, AnIdleModelAlwaysTries) {
  const auto now = Clock::now();
  const LatencyPlan plan = Learned(milliseconds(1), 4, now);
  EXPECT_FALSE(plan.Admit(now, 0, now, now));
  EXPECT_FALSE(plan.TooLate(now, now));
  EXPECT_TRUE(plan.TooLate(now - milliseconds(2), now));
}

TEST(LatencyPlan, WaitsForMoreOnlyIfTheRateNeedsIt) {
  auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(100), 16, now);
  EXPECT_EQ(plan.StartBy(1, now, now), now) << "the rate is not known";
  for (int i = 0; i < 1000; ++i) plan.OnArrival(1, now += milliseconds(20));  // 50 per second need no batches
  EXPECT_EQ(plan.StartBy(1, now, now), now);
  // 1000 per second need batches.
  for (int i = 0; i < 4000; ++i) plan.OnArrival(1, now += microseconds(1000));
  EXPECT_GT(plan.StartBy(1, now, now), now);
  EXPECT_LT(plan.StartBy(1, now, now), now + milliseconds(100));
  EXPECT_EQ(plan.StartBy(16, now, now), now);
}

// Simulates one instance in virtual time, with Poisson arrivals at a multiple of the peak rate.
struct Simulation {
  double goodput = 0;  // requests per second within the goal
  double worst_ms = 0;
};
Simulation Simulate(double load, milliseconds goal) {
  LatencyPlan plan(goal, 16, {}, 1);
  std::mt19937 random(7);
  const double rate = load * 16 / std::chrono::duration<double>(Curve(16)).count();
  const auto begin = Clock::now();
  auto arrival = begin, free_at = begin;
  std::deque<Clock::time_point> queue;
  size_t good = 0;
  Simulation result;
  while (arrival < begin + std::chrono::seconds(20)) {
    const double gap = std::exponential_distribution<double>(rate)(random);
    arrival += nanoseconds(static_cast<int64_t>(gap * 1e9));
    while (!queue.empty()) {  // batches that start before this arrival
      const auto now = std::max(free_at, queue.back());
      const auto size = std::min<int64_t>(static_cast<int64_t>(queue.size()), plan.batch_limit());
      const auto start = std::max(now, plan.StartBy(size, queue.front(), now));
      if (start >= arrival) break;
      free_at = start + Curve(size);
      plan.OnExecution(static_cast<int>(size), Curve(size), {}, free_at);
      for (int64_t i = 0; i < size; ++i) {
        const auto latency = free_at - queue.front();
        queue.pop_front();
        if (latency <= goal) ++good;
        result.worst_ms =
            std::max(result.worst_ms, std::chrono::duration<double, std::milli>(latency).count());
      }
    }
    plan.OnArrival(1, arrival);
    if (!plan.Admit(arrival, static_cast<int64_t>(queue.size()), free_at, arrival)) queue.push_back(arrival);
  }
  result.goodput = static_cast<double>(good) / 20;
  return result;
}

TEST(LatencyPlan, KeepsThePeakUnderOverload) {
  const double peak = 16 / std::chrono::duration<double>(Curve(16)).count();
  for (const double load : {1.0, 3.0, 10.0}) {
    const Simulation result = Simulate(load, milliseconds(50));
    EXPECT_GE(result.goodput, 0.9 * peak) << load;
    EXPECT_LE(result.worst_ms, 50) << load;
  }
  const Simulation low = Simulate(0.5, milliseconds(50));
  EXPECT_GE(low.goodput, 0.49 * peak);
  EXPECT_LE(low.worst_ms, 50);
}

}  // namespace
}  // namespace tern::server
