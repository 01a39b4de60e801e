// Requests that their back end answers by itself, on any thread.
#include "server/scheduler/scheduler.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

SchedulerOptions TwoThreads() {
  SchedulerOptions options;
  options.threads = 2;
  return options;
}

ModelConfig Decoupled() {
  ModelConfig config = IntModel(4);
  config.decoupled = true;
  return config;
}

std::shared_ptr<ModelVersion> Add(Scheduler& scheduler, CallFunction run) {
  auto added = scheduler.Add(Decoupled(), "1", std::make_unique<FakeModel>(Identity, std::move(run)));
  EXPECT_TRUE(added.ok()) << added.status().ToString();
  return *added;
}

// Runs until the call is cancelled; fails the test after 10 s.
void RunUntilCancelled(const std::shared_ptr<Call>& call) {
  EXPECT_TRUE(Eventually([&] { return call->cancelled(); })) << "the cancellation did not arrive";
  Response response;
  response.status = Status(Code::kCancelled, "stopped");
  call->Respond(std::move(response));
}

// The cancellation meets the call before, during and after the start of its execution.
TEST(Decoupled, CancelArrivesAtAnyTime) {
  auto scheduler = Scheduler::Create(TwoThreads());
  auto model = Add(*scheduler, RunUntilCancelled);
  for (int i = 0; i < 500; ++i) {
    const auto call = IntCall(1);
    std::thread canceller;
    if (i % 2) canceller = std::thread([&] { call->Cancel(); });
    model->Submit(call);
    if (canceller.joinable())
      canceller.join();
    else
      call->Cancel();
    EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
    EXPECT_EQ(call->count(), 1u);
  }
}

TEST(Decoupled, RemoveStopsTheBackEnd) {
  auto scheduler = Scheduler::Create(TwoThreads());
  std::atomic<int> started{0}, ended{0};
  auto model = Add(*scheduler, [&](const std::shared_ptr<Call>& call) {
    ++started;
    RunUntilCancelled(call);
    ++ended;
  });
  const auto call = IntCall(1);
  model->Submit(call);
  EXPECT_TRUE(Eventually([&] { return started == 1; }));
  scheduler->Remove(model, milliseconds(1));
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  EXPECT_TRUE(Eventually([&] { return ended == 1; }));
  EXPECT_EQ(model->statistics().Snapshot().fail.count, 1u);
}

TEST(Decoupled, RemoveAgainstStart) {
  for (int i = 0; i < 200; ++i) {
    auto scheduler = Scheduler::Create(TwoThreads());
    auto model = Add(*scheduler, RunUntilCancelled);
    const auto call = IntCall(1);
    model->Submit(call);
    scheduler->Remove(model, milliseconds(0));
    EXPECT_FALSE(call->Wait().status.ok());
    EXPECT_EQ(call->count(), 1u);
  }
}

// The back end keeps its call, returns, and answers on a thread of its own.
struct Keeper {
  std::mutex mutex;
  std::shared_ptr<Call> kept;
  void Keep(const std::shared_ptr<Call>& call) {
    const std::lock_guard lock(mutex);
    kept = call;
  }
  std::shared_ptr<Call> Take() {
    const std::lock_guard lock(mutex);
    return std::move(kept);
  }
  bool Has() {
    const std::lock_guard lock(mutex);
    return kept != nullptr;
  }
};

TEST(Decoupled, RemoveAnswersWhatTheBackEndKeeps) {
  auto scheduler = Scheduler::Create(TwoThreads());
  Keeper keeper;
  auto model = Add(*scheduler, [&](const std::shared_ptr<Call>& call) { keeper.Keep(call); });
  const auto call = IntCall(1);
  model->Submit(call);
  EXPECT_TRUE(Eventually([&] { return keeper.Has(); }));
  scheduler->Remove(model, milliseconds(1));
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  const auto kept = keeper.Take();
  EXPECT_TRUE(kept->cancelled());
  kept->Respond({});
  EXPECT_EQ(call->count(), 1u);
}

TEST(Decoupled, AResponseThatCannotBeMadeEndsTheModel) {
  auto scheduler = Scheduler::Create(TwoThreads());
  std::atomic<bool> cancelled{false};
  auto model = Add(*scheduler, [&](const std::shared_ptr<Call>& call) {
    Response wrong;
    wrong.outputs = {Ints("other", {1, 1}, {1})};
    wrong.final = false;
    call->Respond(std::move(wrong));
    cancelled = call->cancelled();
    call->Respond({});
  });
  const auto call = IntCall(1);
  call->request.outputs = {{.name = "y"}};
  model->Submit(call);
  EXPECT_EQ(call->Wait().status.message(), "model 'm' did not return output 'y'");
  scheduler->Remove(model, milliseconds(20'000));
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(call->count(), 1u);
}

class NotingModel : public FakeModel {
 public:
  NotingModel(CallFunction run, std::atomic<std::thread::id>& destroyer)
      : FakeModel(Identity, std::move(run)), destroyer_(destroyer) {}
  ~NotingModel() override { destroyer_ = std::this_thread::get_id(); }

 private:
  std::atomic<std::thread::id>& destroyer_;
};

// destroy_instance of a plug-in may wait for the plug-in's threads.
TEST(Decoupled, ThreadsOfTheBackEndDoNotDestroyTheModel) {
  std::atomic<std::thread::id> destroyer{};
  Keeper keeper;
  auto scheduler = Scheduler::Create(TwoThreads());
  auto added = scheduler->Add(Decoupled(), "1",
                              std::make_unique<NotingModel>(
                                  [&](const std::shared_ptr<Call>& call) { keeper.Keep(call); }, destroyer));
  ASSERT_TRUE(added.ok());
  std::shared_ptr<ModelVersion> model = std::move(*added);
  const auto call = IntCall(1);
  model->Submit(call);
  EXPECT_TRUE(Eventually([&] { return keeper.Has(); }));
  scheduler->Remove(model, milliseconds(0));
  const std::weak_ptr<ModelVersion> weak = model;
  model.reset();
  EXPECT_TRUE(Eventually([&] { return weak.use_count() == 1; })) << "only the kept call holds it";
  std::thread answers([kept = keeper.Take()]() mutable {
    kept->Respond({});
    kept.reset();
  });
  const std::thread::id own = answers.get_id();
  answers.join();
  EXPECT_TRUE(Eventually([&] { return destroyer.load() != std::thread::id(); }));
  EXPECT_NE(destroyer.load(), own);
}

TEST(Scheduler, RetiredVersionsAnswerLateRequests) {
  auto scheduler = Scheduler::Create(TwoThreads());
  auto added = scheduler->Add(IntModel(4), "1", std::make_unique<FakeModel>(Identity));
  ASSERT_TRUE(added.ok());
  scheduler->Retire(*added, milliseconds(10'000));
  const auto late = IntCall(3);
  (*added)->Submit(late);
  EXPECT_EQ(ToInts(late->Wait().outputs.at(0)), std::vector<int32_t>{3});
  scheduler.reset();
  const auto refused = IntCall(4);
  (*added)->Submit(refused);
  EXPECT_EQ(refused->Wait().status.code(), Code::kUnavailable);
}

TEST(Scheduler, TheShortestLimitEndsARetirement) {
  Gate gate;
  auto scheduler = Scheduler::Create(TwoThreads());
  auto added = scheduler->Add(IntModel(4), "1", std::make_unique<FakeModel>([&](Batch& batch) {
                                gate.Pass();
                                return Identity(batch);
                              }));
  ASSERT_TRUE(added.ok());
  const auto call = IntCall(1);
  (*added)->Submit(call);
  gate.AwaitWaiting(1);
  std::atomic<bool> retired{false};
  std::thread retires([&] {
    scheduler->Retire(*added, std::chrono::hours(1));
    retired = true;
  });
  scheduler->Retire(*added, milliseconds(0));
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  EXPECT_TRUE(Eventually([&] { return retired.load(); })) << "the execution has not ended";
  gate.Open();
  retires.join();
}

}  // namespace
}  // namespace tern::server
