#include "server/scheduler/latency_plan.h"

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using std::chrono::nanoseconds;

constexpr auto kNoLimit = Clock::time_point::max();

nanoseconds Curve(int64_t batch) { return microseconds(4000 + 500 * batch); }  // batches pay
nanoseconds Proportional(int64_t batch) { return batch * milliseconds(10); }   // batches do not pay

LatencyPlan Learned(milliseconds goal, int max_batch, Clock::time_point now,
                    nanoseconds (*curve)(int64_t) = Curve, int lanes = 1) {
  LatencyPlan plan({goal, max_batch, {}, lanes, lanes});
  for (int round = 0; round < 20; ++round) {
    for (int size = 1; size <= max_batch; ++size) plan.OnEnd(0, size, curve(size), {}, now);
    plan.OnPrediction(now, now, now);  // predictions were exact
  }
  return plan;
}

TEST(LatencyPlan, BatchesAsLargeAsTheGoalAllows) {
  const auto now = Clock::now();
  EXPECT_GE(Learned(milliseconds(100), 16, now).batch_limit(), 15);
  // Two executions of b items must take at most 95 % of 20 ms, so 4 + b / 2 <= 9.5.
  EXPECT_NEAR(Learned(milliseconds(20), 16, now).batch_limit(), 11, 1);
  EXPECT_EQ(Learned(milliseconds(1), 16, now).batch_limit(), 1);
}

TEST(LatencyPlan, DoesNotBatchWhatDoesNotPay) {
  const auto now = Clock::now();
  EXPECT_EQ(Learned(milliseconds(1000), 8, now, Proportional).batch_limit(), 1);
  const auto slightly = [](int64_t batch) -> nanoseconds {
    return batch * microseconds(10'000 - 50 * batch);
  };
  EXPECT_EQ(Learned(milliseconds(1000), 8, now, slightly).batch_limit(), 1) << "4 % are less than the noise";
}

TEST(LatencyPlan, TriesLargerBatchesAndKeepsThoseThatPay) {
  auto now = Clock::now();
  LatencyPlan plan({milliseconds(200), 16, {}, 1, 1});
  EXPECT_EQ(plan.batch_limit(), 1);
  for (int i = 0; i < 32; ++i) {
    const int size = plan.batch_limit();
    plan.OnEnd(0, size, Curve(size), {}, now += Curve(size));
  }
  EXPECT_GE(plan.batch_limit(), 15);
}

TEST(LatencyPlan, TriesLessOftenWhatDidNotPay) {
  auto now = Clock::now();
  const auto begin = now;
  LatencyPlan plan({milliseconds(2000), 8, {}, 1, 1});
  int64_t alone = 0, tries = 0;
  while (now < begin + std::chrono::seconds(60)) {
    const int size = plan.batch_limit();
    ++(size == 1 ? alone : tries);
    plan.OnEnd(0, size, Proportional(size), {}, now += Proportional(size));
  }
  EXPECT_GE(tries, 3) << "the model may have changed";
  EXPECT_LE(tries, 40);
  EXPECT_GE(alone, 5000);
}

TEST(LatencyPlan, UsesAllowedSizesOnly) {
  LatencyPlan plan({milliseconds(20), 16, {4, 16}, 1, 1});
  EXPECT_EQ(plan.batch_limit(), 4);
  for (int i = 0; i < 3; ++i) {
    plan.OnEnd(0, 4, Curve(4), {}, Clock::now());
    plan.OnEnd(0, 16, Curve(16), {}, Clock::now());
  }
  EXPECT_EQ(plan.batch_limit(), 4);
}

TEST(LatencyPlan, AdmitsWhatCanBeAnsweredInTime) {
  const auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(50), 16, now);
  EXPECT_TRUE(plan.Admit({now, kNoLimit, 1, 0}, now).admitted);
  plan.OnStart(0, 16, now);
  const Admission next = plan.Admit({now, kNoLimit, 1, 8}, now);
  EXPECT_TRUE(next.admitted);
  EXPECT_GE(next.answered, now + Curve(16) + Curve(9)) << "after the running batch, with its own";
  EXPECT_LE(next.answered, now + 2 * Curve(16));
  const Admission refused = plan.Admit({now, kNoLimit, 1, 160}, now);
  EXPECT_FALSE(refused.admitted);
  EXPECT_GE(refused.retry_after, milliseconds(50));
  EXPECT_LE(refused.retry_after, milliseconds(150));
  EXPECT_FALSE(plan.Admit({now - milliseconds(45), kNoLimit, 1, 8}, now).admitted)
      << "the request arrived 45 ms ago";
}

TEST(LatencyPlan, RefusesWhatWouldExceedItsOwnTimeOut) {
  const auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(1000), 1, now, Proportional);
  plan.OnStart(0, 1, now);
  EXPECT_TRUE(plan.Admit({now, now + milliseconds(40), 1, 2}, now).admitted) << "starts after 30 ms";
  EXPECT_FALSE(plan.Admit({now, now + milliseconds(20), 1, 2}, now).admitted);
}

TEST(LatencyPlan, AnExecutionThatTakesLongerThanExpectedIsNotIdle) {
  auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(25), 1, now, Proportional);
  plan.OnStart(0, 1, now);
  now += milliseconds(100);
  EXPECT_FALSE(plan.Admit({now, kNoLimit, 1, 0}, now).admitted)
      << "it takes 100 ms already, so it probably does not end now";
}

TEST(LatencyPlan, AllInstancesServeTheQueue) {
  const auto now = Clock::now();
  const auto admitted = [&](int lanes) {
    LatencyPlan plan = Learned(milliseconds(100), 1, now, Proportional, lanes);
    for (int i = 0; i < lanes; ++i) plan.OnStart(i, 1, now);
    int64_t ahead = 0;
    while (plan.Admit({now, kNoLimit, 1, ahead}, now).admitted) ++ahead;
    return ahead;
  };
  EXPECT_NEAR(admitted(1), 8, 1);
  EXPECT_NEAR(admitted(4), 32, 4);
}

TEST(LatencyPlan, CountsTheTimeThatOtherModelsTake) {
  const auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(100), 1, now, Proportional);
  plan.OnStart(0, 1, now);
  EXPECT_TRUE(plan.Admit({now, kNoLimit, 1, 4}, now).admitted);
  for (int i = 0; i < 50; ++i) plan.OnEnd(0, 1, milliseconds(10), milliseconds(20), now);
  plan.OnStart(0, 1, now);
  EXPECT_FALSE(plan.Admit({now, kNoLimit, 1, 4}, now).admitted) << "each of 5 executions waits 20 ms";
}

TEST(LatencyPlan, TheMarginFollowsTheErrors) {
  const auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(100), 1, now, Proportional);
  const auto admitted = [&] {
    plan.OnStart(0, 1, now);
    int64_t ahead = 0;
    while (plan.Admit({now, kNoLimit, 1, ahead}, now).admitted) ++ahead;
    return ahead;
  };
  EXPECT_EQ(admitted(), 8);
  for (int i = 0; i < 200; ++i) plan.OnPrediction(now, now + milliseconds(30), now);
  EXPECT_EQ(admitted(), 5) << "answers come 30 ms later than predicted";
  for (int i = 0; i < 200; ++i) plan.OnPrediction(now, now, now);
  EXPECT_EQ(admitted(), 8);
}

TEST(LatencyPlan, AdmitsAFewBeforeAnythingIsKnown) {
  const auto now = Clock::now();
  const LatencyPlan plan({milliseconds(1), 4, {}, 2, 2});
  EXPECT_TRUE(plan.Admit({now, kNoLimit, 1, 0}, now).admitted);
  EXPECT_TRUE(plan.Admit({now, kNoLimit, 1, 7}, now).admitted);
  EXPECT_FALSE(plan.Admit({now, kNoLimit, 1, 8}, now).admitted);
}

TEST(LatencyPlan, AnIdleModelAlwaysTries) {
  const auto now = Clock::now();
  LatencyPlan plan = Learned(milliseconds(1), 4, now);
  EXPECT_TRUE(plan.Admit({now, kNoLimit, 1, 0}, now).admitted);
  EXPECT_FALSE(plan.TooLate(now, now));
  EXPECT_TRUE(plan.TooLate(now - milliseconds(2), now));
  plan.OnStart(0, 1, now);
  EXPECT_FALSE(plan.Admit({now, kNoLimit, 1, 0}, now).admitted);
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

}  // namespace
}  // namespace tern::server
