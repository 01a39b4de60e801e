#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using Kind = ControlInput::Kind;

ModelConfig SequenceModel(SequenceStrategy strategy, int max_batch_size = 4) {
  ModelConfig config = IntModel(max_batch_size);
  config.inputs[0].dims = config.outputs[0].dims = {1};
  config.sequence.emplace();
  config.sequence->strategy = strategy;
  config.sequence->controls = {{Kind::kStart, "START", DType::kI32},
                               {Kind::kEnd, "END", DType::kI32},
                               {Kind::kReady, "READY", DType::kI32},
                               {Kind::kCorrelationId, "ID", DType::kU64}};
  config.sequence->max_candidates = 4;
  return config;
}

std::shared_ptr<TestCall> Step(const std::string& id, int32_t value, bool start = false, bool end = false) {
  auto call = IntCall(value);
  call->request.sequence = {id, true, start, end};
  return call;
}

const WireTensor& Input(const Batch& batch, const std::string& name) {
  for (const WireTensor& input : batch.inputs)
    if (input.name == name) return input;
  static const WireTensor none;
  ADD_FAILURE() << "no input " << name;
  return none;
}

TEST(Sequence, DirectWaitsForSlots) {
  ModelConfig config = SequenceModel(SequenceStrategy::kDirect);
  config.sequence->min_slots = 2;
  config.sequence->max_queue_delay = std::chrono::seconds(20);
  SchedulerWithModel server(std::move(config), [](Batch& batch) -> Result<std::vector<WireTensor>> {
    const Dims dims = Input(batch, "x").dims;
    return std::vector<WireTensor>{
        Ints("y", dims, std::vector<int32_t>(static_cast<size_t>(dims[0]), static_cast<int32_t>(dims[0])))};
  });
  const auto first = Step("1", 1, true, true), second = Step("2", 1, true, true);
  server.model->Submit(first);
  server.model->Submit(second);
  EXPECT_EQ(ToInts(first->Wait().outputs.at(0))[0], 2) << "one execution for both";
  EXPECT_EQ(ToInts(second->Wait().outputs.at(0))[0], 2);
}

TEST(Sequence, ControlInputsTellStartEndAndId) {
  SchedulerWithModel server(
      SequenceModel(SequenceStrategy::kDirect), [](Batch& batch) -> Result<std::vector<WireTensor>> {
        EXPECT_EQ(Input(batch, "START").dims, (Dims{1, 1}));
        const int32_t flags = ToInts(Input(batch, "START"))[0] * 100 + ToInts(Input(batch, "END"))[0] * 10 +
                              ToInts(Input(batch, "READY"))[0];
        EXPECT_EQ(ToInts(Input(batch, "ID")), (std::vector<int32_t>{42, 0}));
        return std::vector<WireTensor>{Ints("y", {1, 1}, {flags})};
      });
  EXPECT_EQ(ToInts(server.Run(Step("42", 1, true)).outputs.at(0))[0], 101);
  EXPECT_EQ(ToInts(server.Run(Step("42", 1)).outputs.at(0))[0], 1);
  EXPECT_EQ(ToInts(server.Run(Step("42", 1, false, true)).outputs.at(0))[0], 11);
  EXPECT_EQ(
      server.Run(Step("42", 1)).status.message(),
      "inference request for sequence 42 to model 'm' must specify the START flag on the first request of "
      "the sequence");
}

TEST(Sequence, RefusesWhatIsNoSequence) {
  SchedulerWithModel server(SequenceModel(SequenceStrategy::kOldest), Identity);
  EXPECT_EQ(server.Run(IntCall(1)).status.message(),
            "inference request to model 'm' must specify a non-zero or non-empty correlation ID");
  EXPECT_FALSE(server.Run(Step("0", 1, true)).status.ok());
  auto two = std::make_shared<TestCall>();
  two->request.inputs.push_back(Ints("x", {2, 1}, {1, 2}));
  two->request.sequence = {"7", true, true, false};
  EXPECT_EQ(
      server.Run(two).status.message(),
      "inference request to model 'm' must specify batch-size 1 due to requirements of sequence batcher");
  auto text = Step("abc", 1, true);
  text->request.sequence.numeric = false;
  EXPECT_EQ(server.Run(text).status.message(),
            "sequence batching control 'ID' data-type is 'BYTES', but model 'm' expects 'UINT64'");
}

// With the direct strategy, each sequence keeps its slot in the batch. READY is false for slots without a
// request.
TEST(Sequence, DirectSequencesKeepTheirSlot) {
  Gate gate;
  std::atomic<bool> hold{false};
  std::mutex mutex;
  std::vector<std::vector<int32_t>> ready, values;
  SchedulerWithModel server(SequenceModel(SequenceStrategy::kDirect), [&](Batch& batch) {
    {
      const std::lock_guard lock(mutex);
      ready.push_back(ToInts(Input(batch, "READY")));
      values.push_back(ToInts(Input(batch, "x")));
    }
    if (hold) gate.Pass();
    return Identity(batch);
  });
  EXPECT_TRUE(server.Run(Step("1", 10, true)).status.ok());
  EXPECT_TRUE(server.Run(Step("2", 20, true)).status.ok());
  EXPECT_TRUE(server.Run(Step("3", 30, true)).status.ok());
  hold = true;
  const auto held = Step("1", 11), second = Step("1", 12), third = Step("3", 32);
  server.model->Submit(held);
  gate.AwaitWaiting(1);
  server.model->Submit(second);
  server.model->Submit(third);
  hold = false;
  gate.Open();
  EXPECT_EQ(ToInts(second->Wait().outputs.at(0)), std::vector<int32_t>{12});
  EXPECT_EQ(ToInts(third->Wait().outputs.at(0)), std::vector<int32_t>{32});
  held->Wait();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(values.back(), (std::vector<int32_t>{12, 0, 32}));
  EXPECT_EQ(ready.back(), (std::vector<int32_t>{1, 0, 1}));
}

TEST(Sequence, OldestBatchesOneRequestPerSequence) {
  Gate gate;
  std::mutex mutex;
  std::vector<std::vector<int32_t>> values;
  SchedulerWithModel server(SequenceModel(SequenceStrategy::kOldest), [&](Batch& batch) {
    {
      const std::lock_guard lock(mutex);
      values.push_back(ToInts(Input(batch, "x")));
    }
    gate.Pass();
    return Identity(batch);
  });
  std::vector<std::shared_ptr<TestCall>> calls = {Step("1", 10, true), Step("1", 11), Step("2", 20, true),
                                                  Step("1", 12), Step("3", 30, true)};
  server.model->Submit(calls[0]);
  gate.AwaitWaiting(1);
  for (size_t i = 1; i < calls.size(); ++i) server.model->Submit(calls[i]);
  gate.Open();
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().status.ok());
  EXPECT_EQ(values, (std::vector<std::vector<int32_t>>{{10}, {11, 20, 30}, {12}}));
}

TEST(Sequence, BacklogWaitsForASlotAndIdleSequencesEnd) {
  ModelConfig config = SequenceModel(SequenceStrategy::kDirect, 1);
  config.sequence->max_idle = milliseconds(40);
  SchedulerWithModel server(config, Identity);
  EXPECT_TRUE(server.Run(Step("1", 1, true)).status.ok());
  const auto waiting = Step("2", 2, true, true);
  const auto before = Clock::now();
  server.model->Submit(waiting);
  EXPECT_TRUE(waiting->Wait().status.ok())
      << "sequence 1 ends because it was idle too long, so this sequence gets its slot";
  EXPECT_GE(Clock::now() - before, milliseconds(20));
  EXPECT_FALSE(server.Run(Step("1", 1)).status.ok());
}

TEST(Sequence, CancelledRequestsLeaveTheBacklog) {
  ModelConfig config = SequenceModel(SequenceStrategy::kDirect, 1);
  config.sequence->max_idle = std::chrono::seconds(100);
  SchedulerWithModel server(config, Identity);
  EXPECT_TRUE(server.Run(Step("1", 1, true)).status.ok());
  const auto waiting = Step("2", 2, true);
  server.model->Submit(waiting);
  EXPECT_EQ(server.model->Pending(), 1u);
  waiting->Cancel();
  EXPECT_EQ(waiting->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(server.model->Pending(), 0u);
  EXPECT_FALSE(server.Run(Step("2", 2)).status.ok()) << "the sequence did not begin";
}

// The model adds its input to a sum. The server stores the sum between requests.
TEST(Sequence, ImplicitState) {
  ModelConfig config = SequenceModel(SequenceStrategy::kOldest);
  config.sequence->states.push_back({"SUM_IN", "SUM_OUT", DType::kI32, {1}});
  SchedulerWithModel server(config, [](Batch& batch) -> Result<std::vector<WireTensor>> {
    const auto x = ToInts(Input(batch, "x")), sum = ToInts(Input(batch, "SUM_IN"));
    EXPECT_EQ(Input(batch, "SUM_IN").dims, (Dims{static_cast<int64_t>(x.size()), 1}));
    std::vector<int32_t> out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] + sum.at(i));
    return std::vector<WireTensor>{Ints("y", batch.inputs[0].dims, out),
                                   Ints("SUM_OUT", batch.inputs[0].dims, out)};
  });
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int round = 0; round < 5; ++round)
    for (int s = 1; s <= 3; ++s) {
      auto call = Step(std::to_string(s), s, round == 0, round == 4);
      if (s == 2) call->request.outputs = {{.name = "y"}};
      server.model->Submit(calls.emplace_back(call));
    }
  for (size_t i = 0; i < calls.size(); ++i) {
    const Response response = calls[i]->Wait();
    ASSERT_EQ(response.outputs.size(), 1u) << "clients do not see the state";
    const auto sequence = static_cast<int32_t>(i % 3) + 1, round = static_cast<int32_t>(i / 3) + 1;
    EXPECT_EQ(ToInts(response.outputs[0]), std::vector<int32_t>{sequence * round});
  }
  EXPECT_EQ(ToInts(server.Run(Step("1", 5, true)).outputs.at(0)), std::vector<int32_t>{5});
}

// Each request adds an element to the state. Batches have states of one shape, also in empty slots.
TEST(Sequence, StatesMayGrow) {
  ModelConfig config = SequenceModel(SequenceStrategy::kDirect, 3);
  config.sequence->states.push_back({"IN", "OUT", DType::kI32, {-1}});
  SchedulerWithModel server(config, [](Batch& batch) -> Result<std::vector<WireTensor>> {
    const WireTensor& state = Input(batch, "IN");
    const int64_t slots = state.dims.at(0), size = state.dims.at(1);
    EXPECT_EQ(state.bytes.size(), static_cast<size_t>(slots * size) * sizeof(int32_t));
    const std::vector<int32_t> sizes(static_cast<size_t>(slots), static_cast<int32_t>(size));
    const std::vector<int32_t> grown(static_cast<size_t>(slots * (size + 1)), 1);
    return std::vector<WireTensor>{Ints("y", {slots, 1}, sizes), Ints("OUT", {slots, size + 1}, grown)};
  });
  const auto size_of = [&](const char* id, bool start) {
    const Response response = server.Run(Step(id, 1, start));
    EXPECT_TRUE(response.status.ok()) << response.status.ToString();
    return response.outputs.empty() ? -1 : ToInts(response.outputs[0])[0];
  };
  EXPECT_EQ(size_of("1", true), 1);
  EXPECT_EQ(size_of("2", true), 1);
  EXPECT_EQ(size_of("2", false), 2) << "the slot of sequence 1 is empty";
  EXPECT_EQ(size_of("2", false), 3);
  EXPECT_EQ(size_of("1", false), 2);
  // Sequence 1 starts again while the state of sequence 2 is larger.
  const auto restart = Step("1", 1, true), next = Step("2", 1);
  server.model->Submit(restart);
  server.model->Submit(next);
  EXPECT_EQ(ToInts(restart->Wait().outputs.at(0)), std::vector<int32_t>{1});
  EXPECT_EQ(ToInts(next->Wait().outputs.at(0)), std::vector<int32_t>{4});
}

TEST(Sequence, ManySequencesFromManyThreads) {
  ModelConfig config = SequenceModel(SequenceStrategy::kDirect, 2);
  config.instances = 2;
  config.sequence->states.push_back({"SUM_IN", "SUM_OUT", DType::kI32, {1}});
  SchedulerWithModel server(config, [](Batch& batch) -> Result<std::vector<WireTensor>> {
    const auto x = ToInts(Input(batch, "x")), sum = ToInts(Input(batch, "SUM_IN"));
    std::vector<int32_t> out;
    for (size_t i = 0; i < x.size(); ++i) out.push_back(x[i] + sum[i]);
    return std::vector<WireTensor>{Ints("y", batch.inputs[0].dims, out),
                                   Ints("SUM_OUT", batch.inputs[0].dims, out)};
  });
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t)
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 10; ++repeat)
        for (int i = 1; i <= 5; ++i) {
          const Response response = server.Run(Step(std::to_string(t), 1, i == 1, i == 5));
          ASSERT_TRUE(response.status.ok()) << response.status.ToString();
          EXPECT_EQ(ToInts(response.outputs.at(0)), std::vector<int32_t>{i});
        }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tern::server
