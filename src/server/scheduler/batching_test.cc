#include "server/scheduler/execution.h"
#include "server/scheduler/scheduler.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

// A model that records the sizes of its batches. A gate can block its executions.
struct Recorder {
  std::unique_ptr<Scheduler> scheduler;
  std::shared_ptr<ModelVersion> model;
  Gate gate;
  bool hold = true;
  std::mutex mutex;
  std::vector<int64_t> batches;
  std::vector<std::vector<int32_t>> values;

  explicit Recorder(ModelConfig config, int threads = 2) {
    SchedulerOptions options;
    options.threads = threads;
    options.inline_below = microseconds(0);
    scheduler = Scheduler::Create(options);
    auto added = scheduler->Add(std::move(config), "1",
                                std::make_unique<FakeModel>([this](Batch& batch) { return Run(batch); }));
    EXPECT_TRUE(added.ok());
    model = *added;
  }
  Result<std::vector<WireTensor>> Run(Batch& batch) {
    {
      const std::lock_guard lock(mutex);
      batches.push_back(batch.inputs[0].dims[0]);
      values.push_back(ToInts(batch.inputs[0]));
    }
    if (hold) gate.Pass();
    for (const int32_t value : ToInts(batch.inputs[0]))
      if (value < 0) return InvalidArgument("negative");
    return Identity(batch);
  }
  // Submits the calls while the gate blocks one execution, then opens the gate.
  std::vector<std::shared_ptr<TestCall>> RunBehindGate(const std::vector<std::shared_ptr<TestCall>>& calls) {
    const auto first = IntCall(0);
    model->Submit(first);
    gate.AwaitWaiting(1);
    for (const auto& call : calls) model->Submit(call);
    gate.Open();
    first->Wait();
    for (const auto& call : calls) call->Wait();
    return calls;
  }
};

ModelConfig Batching(int max_batch_size) {
  ModelConfig config = IntModel(max_batch_size);
  config.batching.emplace();
  return config;
}

std::vector<std::shared_ptr<TestCall>> Calls(int count) {
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 1; i <= count; ++i) calls.push_back(IntCall(i));
  return calls;
}

TEST(Batching, JoinsWhatWaits) {
  Recorder recorder(Batching(4));
  const auto calls = recorder.RunBehindGate(Calls(6));
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 4, 2}));
  for (size_t i = 0; i < calls.size(); ++i)
    EXPECT_EQ(ToInts(calls[i]->Wait().outputs.at(0)), std::vector<int32_t>{static_cast<int32_t>(i) + 1});
  const auto statistics = recorder.model->statistics().Snapshot();
  EXPECT_EQ(statistics.execution_count, 3u);
  EXPECT_EQ(statistics.inference_count, 7u);
  EXPECT_EQ(statistics.batches.at(4).compute.count, 1u);
}

TEST(Batching, IsOffWithoutConfiguration) {
  Recorder recorder(IntModel(4));
  recorder.RunBehindGate(Calls(3));
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 1, 1, 1}));
}

TEST(Batching, PrefersItsPreferredSizes) {
  ModelConfig config = Batching(8);
  config.batching->preferred_batch_sizes = {2, 4};
  Recorder recorder(config);
  recorder.RunBehindGate(Calls(7));
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 4, 2, 1}));
}

TEST(Batching, CountsItemsAndNeverSplitsARequest) {
  Recorder recorder(Batching(4));
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 3; ++i) {
    auto call = std::make_shared<TestCall>();
    call->request.inputs.push_back(Ints("x", {3, 1}, {1, 2, 3}));
    calls.push_back(call);
  }
  recorder.RunBehindGate(calls);
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 3, 3, 3}));
}

TEST(Batching, DifferentShapesDoNotMix) {
  Recorder recorder(Batching(8));
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 4; ++i) {
    auto call = std::make_shared<TestCall>();
    if (i < 2)
      call->request.inputs.push_back(Ints("x", {1, 1}, {i}));
    else
      call->request.inputs.push_back(Ints("x", {1, 2}, {i, i}));
    calls.push_back(call);
  }
  recorder.RunBehindGate(calls);
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 2, 2}));
}

TEST(Batching, WaitsForItsDelay) {
  ModelConfig config = Batching(8);
  config.batching->max_queue_delay = milliseconds(60);
  Recorder recorder(config);
  recorder.hold = false;
  const auto begin = Clock::now();
  const auto calls = Calls(3);
  for (const auto& call : calls) recorder.model->Submit(call);
  for (const auto& call : calls) call->Wait();
  EXPECT_GE(Clock::now() - begin, milliseconds(60));
  EXPECT_EQ(recorder.batches, std::vector<int64_t>{3});
  const auto full = Calls(8);
  const auto before = Clock::now();
  for (const auto& call : full) recorder.model->Submit(call);
  for (const auto& call : full) call->Wait();
  EXPECT_LT(Clock::now() - before, milliseconds(60)) << "a full batch does not wait";
}

TEST(Batching, DoesNotWaitPastTheLargestPreferredSize) {
  ModelConfig config = Batching(8);
  config.batching->preferred_batch_sizes = {4};
  config.batching->max_queue_delay = std::chrono::seconds(100);
  Recorder recorder(config);
  recorder.hold = false;
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 2; ++i) {
    auto call = std::make_shared<TestCall>();
    call->request.inputs.push_back(Ints("x", {3, 1}, {1, 2, 3}));
    recorder.model->Submit(calls.emplace_back(call));
  }
  EXPECT_TRUE(calls[0]->Wait().status.ok());
  EXPECT_EQ(calls[1]->count(), 0u) << "it waits for its delay";
  recorder.scheduler->Remove(recorder.model, milliseconds(0));
}

TEST(Batching, HigherPrioritiesFirst) {
  ModelConfig config = Batching(1);
  config.batching->priority_levels = 2;
  config.batching->default_priority = 2;
  Recorder recorder(config);
  auto calls = Calls(4);
  calls[2]->request.priority = 1;
  recorder.RunBehindGate(calls);
  EXPECT_EQ(recorder.values, (std::vector<std::vector<int32_t>>{{0}, {3}, {1}, {2}, {4}}));
}

TEST(Batching, ABadRequestDoesNotFailTheOthers) {
  Recorder recorder(Batching(8));
  auto calls = Calls(2);
  calls.push_back(IntCall(-1));
  calls.push_back(IntCall(4));
  recorder.RunBehindGate(calls);
  EXPECT_TRUE(calls[0]->Wait().status.ok());
  EXPECT_TRUE(calls[1]->Wait().status.ok());
  EXPECT_EQ(calls[2]->Wait().status.message(), "negative");
  EXPECT_EQ(ToInts(calls[3]->Wait().outputs.at(0)), std::vector<int32_t>{4});
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 4, 1, 1, 1, 1}));
}

// If a batch fails, its requests run again one by one. The sum of these times is not the time of any batch
// size.
TEST(Batching, NothingIsLearnedFromABatchThatFailed) {
  const ModelConfig config = Batching(4);
  const BatchBuilder builder(config);
  const auto feeder = MakeQueueFeeder(config, 1);
  FakeModel model([](Batch& batch) -> Result<std::vector<WireTensor>> {
    for (const int32_t value : ToInts(batch.inputs[0]))
      if (value < 0) return InvalidArgument("negative");
    return Identity(batch);
  });
  auto instance = model.CreateInstance();
  ModelStatistics statistics;
  const auto run = [&](const std::vector<int32_t>& values) {
    Pick pick;
    for (const int32_t value : values) {
      pick.calls.push_back(std::make_shared<QueuedCall>());
      pick.calls.back()->call = IntCall(value);
    }
    return Execute({config, builder, statistics, *feeder, **instance, 1}, pick);
  };
  EXPECT_EQ(run({1, 2}).batch_size, 2);
  const ExecutionResult failed = run({1, -2, 3});
  EXPECT_EQ(failed.batch_size, 0);
  ASSERT_EQ(failed.finished.size(), 3u);
  EXPECT_TRUE(failed.finished[0].response.status.ok());
  EXPECT_FALSE(failed.finished[1].response.status.ok());
}

TEST(Batching, PadsToAllowedSizes) {
  ModelConfig config = Batching(8);
  config.batching->allowed_batch_sizes = {1, 4, 8};
  Recorder recorder(config);
  const auto calls = recorder.RunBehindGate(Calls(3));
  EXPECT_EQ(recorder.batches, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(recorder.values[1], (std::vector<int32_t>{1, 2, 3, 3}));
  EXPECT_EQ(recorder.model->statistics().Snapshot().inference_count, 4u);
}

// A response that waits for an earlier one is not lost if the earlier one never comes.
TEST(Batching, RemoveSendsResponsesThatWaitForTheirTurn) {
  ModelConfig config = Batching(1);
  config.instances = 2;
  config.batching->preserve_ordering = true;
  SchedulerOptions options;
  options.threads = 2;
  auto scheduler = Scheduler::Create(options);
  Gate gate;
  std::atomic<int> ran{0};
  auto added = scheduler->Add(config, "1", std::make_unique<FakeModel>([&](Batch& batch) {
                                if (ToInts(batch.inputs[0])[0] == 1) gate.Pass();
                                ++ran;
                                return Identity(batch);
                              }));
  ASSERT_TRUE(added.ok());
  const auto stuck = IntCall(1), held = IntCall(2);
  (*added)->Submit(stuck);
  gate.AwaitWaiting(1);
  (*added)->Submit(held);
  EXPECT_TRUE(Eventually([&] { return ran == 1; }));
  EXPECT_EQ(held->count(), 0u);
  scheduler->Remove(*added, milliseconds(1));
  EXPECT_EQ(stuck->Wait().status.code(), Code::kUnavailable);
  held->Wait();
  EXPECT_EQ(held->count(), 1u);
  gate.Open();
}

TEST(Batching, PreservesTheOrderOfResponses) {
  ModelConfig config = Batching(1);
  config.instances = 2;
  config.batching->preserve_ordering = true;
  SchedulerOptions options;
  options.threads = 2;
  options.inline_below = microseconds(0);
  auto scheduler = Scheduler::Create(options);
  // Executions with an odd value are slow.
  auto model = *scheduler->Add(config, "1", std::make_unique<FakeModel>([](Batch& batch) {
                                 if (ToInts(batch.inputs[0])[0] % 2)
                                   std::this_thread::sleep_for(milliseconds(3));
                                 return Identity(batch);
                               }));
  std::mutex mutex;
  std::vector<int> order, expected;
  std::vector<std::shared_ptr<TestCall>> calls = Calls(40);
  for (int i = 0; i < 40; ++i) {
    expected.push_back(i);
    calls[static_cast<size_t>(i)]->on_final = [&, i] {
      const std::lock_guard lock(mutex);
      order.push_back(i);
    };
  }
  for (const auto& call : calls) model->Submit(call);
  for (const auto& call : calls) call->Wait();
  scheduler->Remove(model, milliseconds(10'000));
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace tern::server
