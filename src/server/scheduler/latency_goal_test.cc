// Tests a model with a latency goal under real overload. The back end sleeps for a time that depends on the
// batch size.
#include <random>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

constexpr int kMaxBatch = 16;
// 16 items take 24 ms, which is 667 per second.
milliseconds Curve(int64_t batch) { return milliseconds(8) + milliseconds(batch); }

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

TEST(LatencyGoal, KeepsItsThroughputUnderOverload) {
  SchedulerOptions options;
  options.threads = 2;
  auto scheduler = Scheduler::Create(options);
  ModelConfig config = IntModel(kMaxBatch);
  const milliseconds goal(120);
  config.goal.p99 = goal;
  // The machine may be busy, so the expected throughput follows from the measured time of full batches.
  std::atomic<int64_t> full_ns{0}, full{0};
  const auto run = [&](Batch& batch) {
    const auto start = Clock::now();
    std::this_thread::sleep_for(Curve(batch.inputs[0].dims[0]));
    if (batch.inputs[0].dims[0] == kMaxBatch) {
      full_ns += std::chrono::nanoseconds(Clock::now() - start).count();
      ++full;
    }
    return Identity(batch);
  };
  auto model = *scheduler->Add(config, "1", std::make_unique<FakeModel>(run));
  const double peak = kMaxBatch / std::chrono::duration<double>(Curve(kMaxBatch)).count();
  Load(*model, peak, std::chrono::seconds(1), goal);  // the plan learns the execution times
  const auto begin = Clock::now();
  const Outcome outcome = Load(*model, 3 * peak, std::chrono::seconds(2), goal);
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  ASSERT_GT(full.load(), 0);
  const double possible = kMaxBatch * 1e9 * static_cast<double>(full) / static_cast<double>(full_ns);
  // The test LatencyPlan.KeepsThePeakUnderOverload requires 90 %, because it has a virtual clock without
  // noise. Here half is enough: with a sanitizer beside other programs, 79 % were seen.
  EXPECT_GE(static_cast<double>(outcome.good) / seconds, 0.5 * possible);
  EXPECT_GT(outcome.refused, outcome.good);
  EXPECT_LE(outcome.late, outcome.good / 5);
  EXPECT_LE(outcome.slow_refusals, outcome.refused / 20);
  EXPECT_EQ(outcome.without_retry, 0u);
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
