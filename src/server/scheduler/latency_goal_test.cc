// Tests a model with a latency goal under real overload. The back end sleeps for a time that depends on the
// batch size.
#include <iostream>
#include <random>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

constexpr int kMaxBatch = 16;
// 16 items take 24 ms, which is 667 per second.
milliseconds GoalCurve(int64_t batch) { return milliseconds(8) + milliseconds(batch); }

struct Outcome {
  size_t good = 0, late = 0, refused = 0, slow_refusals = 0, without_retry = 0;
};

Outcome Load(ModelVersion& model, double rate, std::chrono::seconds time, milliseconds goal) {
  std::mutex mutex;
  Outcome outcome;
  std::vector<std::shared_ptr<TestCall>> calls;
  std::mt19937 random(3);
  auto next = Clock::now();
  for (const auto end = next + time; next < end;) {
    std::this_thread::sleep_until(next);
    const auto call = IntCall(1);
    call->on_final = [&, raw = call.get(), begin = Clock::now()] {
      const auto latency = Clock::now() - begin;
      const Response response = raw->responses().back();
      const std::lock_guard lock(mutex);
      if (response.status.code() == Code::kResourceExhausted) {
        ++outcome.refused;
        if (latency > milliseconds(10)) ++outcome.slow_refusals;
        if (response.retry_after.count() <= 0) ++outcome.without_retry;
      } else {
        ++(latency <= goal ? outcome.good : outcome.late);
      }
    };
    model.Submit(calls.emplace_back(call));
    next += std::chrono::nanoseconds(
        static_cast<int64_t>(std::exponential_distribution<double>(rate)(random) * 1e9));
  }
  for (const auto& call : calls) call->Wait();
  const std::lock_guard lock(mutex);
  return outcome;
}

// The throughput that the measured times of full batches permit.
struct Pace {
  std::atomic<int64_t> full_ns{0}, full{0};
  double possible() const {
    return kMaxBatch * 1e9 * static_cast<double>(full) / static_cast<double>(full_ns);
  }
};

std::unique_ptr<FakeModel> Sleeper(Pace& pace) {
  return std::make_unique<FakeModel>([&pace](Batch& batch) {
    const auto start = Clock::now();
    std::this_thread::sleep_for(GoalCurve(batch.inputs[0].dims[0]));
    if (batch.inputs[0].dims[0] == kMaxBatch) {
      pace.full_ns += std::chrono::nanoseconds(Clock::now() - start).count();
      ++pace.full;
    }
    return Identity(batch);
  });
}

// Loads a new model with three times its peak. Returns what is wrong with the outcome, or an empty string.
std::string Overload() {
  SchedulerOptions options;
  options.threads = 2;
  auto scheduler = Scheduler::Create(options);
  ModelConfig config = IntModel(kMaxBatch);
  const milliseconds goal(120);
  config.goal.p99 = goal;
  Pace pace;
  auto model = *scheduler->Add(config, "1", Sleeper(pace));
  const double peak = kMaxBatch / std::chrono::duration<double>(GoalCurve(kMaxBatch)).count();
  Load(*model, peak, std::chrono::seconds(1), goal);  // the plan learns the execution times
  const auto begin = Clock::now();
  const Outcome outcome = Load(*model, 3 * peak, std::chrono::seconds(2), goal);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  EXPECT_EQ(outcome.without_retry, 0u);  // does not depend on time, so no attempt may fail
  if (pace.full == 0) return "no batch was full";
  const double rate = static_cast<double>(outcome.good) / seconds;
  if (rate < 0.8 * pace.possible())
    return StrCat(rate, " answers in time per second, possible are ", pace.possible());
  if (outcome.refused <= outcome.good)
    return StrCat(outcome.refused, " refused, ", outcome.good, " answered in time");
  if (outcome.late > outcome.good / 5) return StrCat(outcome.late, " late, ", outcome.good, " in time");
  if (outcome.slow_refusals > outcome.refused / 20)
    return StrCat(outcome.slow_refusals, " of ", outcome.refused, " refusals took more than 10 ms");
  return "";
}

// Overload.KeepsNineTenthsOfThePeak tests the plan in virtual time, where no attempt may fail. This test
// shows that the scheduler's threads pass the right times to the plan. Other programs on the machine can only
// lower the throughput: they stall the thread that sends the requests, or the one that executes them. So one
// good attempt shows what the scheduler can do, and a scheduler that reaches less fails in all attempts.
TEST(LatencyGoal, KeepsItsThroughputUnderOverload) {
  constexpr int kAttempts = 5;
  std::string wrong = Overload();
  for (int i = 1; i < kAttempts && !wrong.empty(); ++i) {
    std::cout << "attempt " << i << ": " << wrong << std::endl;
    wrong = Overload();
  }
  EXPECT_EQ(wrong, "") << "in the last of " << kAttempts << " attempts";
}

TEST(LatencyGoal, RefusesBeforeARequestIsDecoded) {
  SchedulerOptions options;
  options.threads = 1;
  auto scheduler = Scheduler::Create(options);
  ModelConfig config = IntModel();
  config.goal.p99 = std::chrono::seconds(100);
  Gate gate;
  auto model = *scheduler->Add(config, "1", std::make_unique<FakeModel>([&](Batch& batch) {
                                 gate.Pass();
                                 return Identity(batch);
                               }));
  TestCall early;
  EXPECT_FALSE(model->RefuseIfOverloaded(early));
  std::vector<std::shared_ptr<TestCall>> calls;
  const auto submit = [&] { model->Submit(calls.emplace_back(IntCall(1, {1}))); };
  submit();
  gate.AwaitWaiting(1);
  // Nothing is known yet, so only a few requests are admitted.
  auto refused = std::make_shared<TestCall>();
  while (calls.size() < 100 && !model->RefuseIfOverloaded(*refused)) submit();
  EXPECT_EQ(calls.size(), 5u);
  const Response response = refused->Wait();
  EXPECT_EQ(response.status.code(), Code::kResourceExhausted);
  EXPECT_GE(response.retry_after.count(), 1);
  gate.Open();
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().status.ok());
}

TEST(LatencyGoal, DoesNotDelayASingleClient) {
  auto scheduler = Scheduler::Create({});
  ModelConfig config = IntModel(kMaxBatch);
  config.goal.p99 = milliseconds(100);
  auto model = *scheduler->Add(config, "1", std::make_unique<FakeModel>([](Batch& batch) {
                                 std::this_thread::sleep_for(milliseconds(2));
                                 return Identity(batch);
                               }));
  const auto begin = Clock::now();
  for (int i = 0; i < 50; ++i) {
    const auto call = IntCall(i);
    model->Submit(call);
    EXPECT_TRUE(call->Wait().status.ok());
  }
  EXPECT_LT(Clock::now() - begin, milliseconds(50 * 8));
}

}  // namespace
}  // namespace tern::server
