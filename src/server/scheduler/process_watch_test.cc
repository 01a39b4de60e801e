// What happens to requests if a model's process ends, and if an execution takes too long.
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

class FakeProcess : public ModelProcess {
 public:
  State state() const override { return state_; }
  uint64_t epoch() const override { return epoch_; }
  void OnChange(std::function<void()> action) override { action_ = std::move(action); }
  std::vector<std::pair<std::string, uint64_t>> Ends() const override { return {}; }
  int64_t pid() const override { return -1; }
  void Set(State state, uint64_t epoch) {
    epoch_ = epoch;
    state_ = state;
    action_();
  }

 private:
  std::atomic<State> state_{State::kUp};
  std::atomic<uint64_t> epoch_{1};
  std::function<void()> action_;
};

using State = ModelProcess::State;

struct IsolatedServer {
  FakeProcess process;
  std::unique_ptr<Scheduler> scheduler = Scheduler::Create({.threads = 2});
  std::shared_ptr<ModelVersion> model;

  IsolatedServer(ModelConfig config, RunFunction run) {
    auto fake = std::make_unique<FakeModel>(std::move(run));
    fake->isolated = &process;
    auto added = scheduler->Add(std::move(config), "1", std::move(fake));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    model = *added;
  }
};

TEST(ModelProcess, RequestsWaitForARestart) {
  std::atomic<int> runs{0};
  IsolatedServer server(IntModel(8), [&](Batch& batch) {
    ++runs;
    EXPECT_EQ(batch.epoch, 2u);
    return Identity(batch);
  });
  EXPECT_TRUE(server.model->Ready());
  server.process.Set(State::kRestarting, 1);
  EXPECT_FALSE(server.model->Ready());
  const auto call = IntCall(5), expired = IntCall(6);
  server.model->Submit(call);
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(runs, 0);
  EXPECT_EQ(server.model->Pending(), 1u);
  server.process.Set(State::kUp, 2);
  EXPECT_TRUE(call->Wait().status.ok());
  EXPECT_TRUE(server.model->Ready());
}

TEST(ModelProcess, TimeOutsOfTheQueueApplyDuringARestart) {
  ModelConfig config = IntModel(8);
  config.batching.emplace();
  config.batching->default_policy.default_timeout = milliseconds(20);
  IsolatedServer server(std::move(config), Identity);
  server.process.Set(State::kRestarting, 1);
  const auto call = IntCall(5);
  server.model->Submit(call);
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
}

TEST(ModelProcess, RequestsAreTakenWhileTheProcessStaysDown) {
  IsolatedServer server(IntModel(8), [](Batch& batch) -> Result<std::vector<WireTensor>> {
    batch.lost = true;
    return Unavailable("it is down");
  });
  server.process.Set(State::kRestarting, 1);
  const auto call = IntCall(5);
  server.model->Submit(call);
  server.process.Set(State::kDown, 1);
  EXPECT_EQ(call->Wait().status.message(), "it is down");
}

TEST(ModelProcess, AWaitingRequestCanBeCancelledAndTheModelRemoved) {
  IsolatedServer server(IntModel(8), Identity);
  server.process.Set(State::kRestarting, 1);
  const auto cancelled = IntCall(5), left = IntCall(6);
  server.model->Submit(cancelled);
  server.model->Submit(left);
  cancelled->Cancel();
  EXPECT_EQ(cancelled->Wait().status.code(), Code::kCancelled);
  server.scheduler->Remove(server.model, milliseconds(20));
  EXPECT_EQ(left->Wait().status.code(), Code::kUnavailable);
}

TEST(ModelProcess, ALostBatchIsNotRunAgain) {
  std::atomic<int> runs{0};
  ModelConfig config = IntModel(8);
  config.batching.emplace();
  Gate gate;
  IsolatedServer server(std::move(config), [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    if (++runs == 1) gate.Pass();
    if (runs == 1) return Identity(batch);
    batch.lost = true;
    batch.timed_out = true;
    return Unavailable("it ended");
  });
  const auto first = IntCall(1);
  server.model->Submit(first);
  gate.AwaitWaiting(1);
  const std::vector<std::shared_ptr<TestCall>> calls = {IntCall(2), IntCall(3), IntCall(4)};
  for (const auto& call : calls) server.model->Submit(call);
  gate.Open();
  for (const auto& call : calls) {
    const Response response = call->Wait();
    EXPECT_EQ(response.status.message(), "it ended");
    EXPECT_TRUE(response.timed_out);
  }
  EXPECT_EQ(runs, 2);
}

TEST(ModelProcess, SequencesOfAnEarlierProcessEnd) {
  ModelConfig config = IntModel();
  config.sequence.emplace();
  config.sequence->max_idle = std::chrono::seconds(60);
  config.instances = 2;  // one sequence each
  IsolatedServer server(std::move(config), Identity);
  const auto step = [&](const std::string& id, bool start) {
    auto call = IntCall(1, {1});
    call->request.sequence = {id, true, start, false};
    server.model->Submit(call);
    return call->Wait().status;
  };
  EXPECT_TRUE(step("1", true).ok());
  EXPECT_TRUE(step("2", true).ok());
  server.process.Set(State::kRestarting, 1);
  const auto waiting = IntCall(1, {1}), next = IntCall(1, {1});
  waiting->request.sequence = {"1", true, false, false};
  next->request.sequence = {"1", true, true, false};
  server.model->Submit(waiting);
  server.model->Submit(next);
  server.process.Set(State::kUp, 2);
  EXPECT_EQ(waiting->Wait().status.message(),
            "sequence 1 of model 'm' was lost when the model's process ended");
  EXPECT_TRUE(next->Wait().status.ok()) << "it begins a new sequence of the same id";
  EXPECT_EQ(step("2", false).code(), Code::kInvalidArgument) << "it is no longer known";
  EXPECT_TRUE(step("1", true).ok());
  EXPECT_TRUE(step("1", false).ok());
}

TEST(ModelProcess, SequencesWhoseStateIsInTheServerGoOn) {
  ModelConfig config = IntModel();
  config.sequence.emplace();
  config.sequence->states = {{"IN_STATE", "OUT_STATE", DType::kI32, {1}}};
  IsolatedServer server(std::move(config), Identity);
  const auto step = [&](bool start) {
    auto call = IntCall(1, {1});
    call->request.sequence = {"1", true, start, false};
    server.model->Submit(call);
    return call->Wait().status;
  };
  EXPECT_TRUE(step(true).ok());
  server.process.Set(State::kUp, 2);
  EXPECT_TRUE(step(false).ok());
}

TEST(ExecutionTimeout, AHangInTheServerIsAnsweredAndCounted) {
  ModelConfig config = IntModel(8);
  config.execution_timeout = milliseconds(30);
  Gate gate;
  std::atomic<bool> cancelled{false};
  SchedulerWithModel server(std::move(config), [&](Batch& batch) {
    const bool hangs = ToInts(batch.inputs[0])[0] == 1;
    if (hangs) gate.Pass();
    if (hangs) cancelled = batch.stop.cancel->load();
    return Identity(batch);
  });
  const auto begin = Clock::now();
  const Response response = server.Run(IntCall(1));
  EXPECT_GE(Clock::now() - begin, milliseconds(30));
  EXPECT_EQ(response.status.message(),
            "an execution of model 'm' takes longer than execution_timeout_ms, 30");
  EXPECT_TRUE(response.timed_out);
  EXPECT_EQ(server.model->Hangs(), 1u);
  gate.Open();
  EXPECT_TRUE(Eventually([&] { return cancelled.load(); })) << "the back end can see that nobody waits";
  EXPECT_TRUE(server.Run(IntCall(2)).status.ok()) << "the instance is free again";
  EXPECT_EQ(server.model->Hangs(), 1u);
  const StatisticsSnapshot totals = server.model->statistics().Snapshot();
  EXPECT_EQ(totals.success.count, 1u);
  EXPECT_EQ(totals.fail.count, 1u);
  server.scheduler->Remove(server.model, milliseconds(5000));
}

TEST(ExecutionTimeout, AStreamWithoutResponsesIsAnsweredAndCancelled) {
  ModelConfig config = IntModel();
  config.decoupled = true;
  config.execution_timeout = milliseconds(600);
  std::vector<std::thread> threads;
  auto fake = std::make_unique<FakeModel>(Identity, [&](const std::shared_ptr<Call>& call) {
    threads.emplace_back([call] {
      for (int i = 0; i < 4; ++i) {  // takes longer than the limit, but with responses
        std::this_thread::sleep_for(milliseconds(200));
        Response response;
        response.outputs = {Ints("y", {1}, {i})};
        response.final = false;
        call->Respond(std::move(response));
      }
      EXPECT_TRUE(Eventually([&] { return call->cancelled(); }));
      call->Respond({});
    });
  });
  const auto scheduler = Scheduler::Create({.threads = 2});
  const auto model = *scheduler->Add(std::move(config), "1", std::move(fake));
  const auto call = IntCall(1, {1});
  model->Submit(call);
  const Response last = call->Wait();
  EXPECT_TRUE(last.timed_out);
  EXPECT_EQ(call->count(), 5u);
  EXPECT_EQ(model->Hangs(), 1u);
  for (std::thread& thread : threads) thread.join();
  scheduler->Remove(model, milliseconds(5000));
}

}  // namespace
}  // namespace tern::server
