#include "server/scheduler/executor.h"

#include <sys/resource.h>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

class FakeClient : public Executor::Client {
 public:
  std::function<void(int threads)> work;
  std::function<void()> timer;
  std::string name;
  void Work(int threads) override { work(threads); }
  void OnTimer() override { timer(); }
  std::string Describe() const override { return name; }
};

TEST(Executor, IdleClientsDoNotCollectCredit) {
  Executor executor(1);
  const auto busy = std::make_shared<FakeClient>(), idle = std::make_shared<FakeClient>();
  std::atomic<int> runs{0};
  busy->work = [&](int) {
    busy->Charge(100'000'000);
    if (++runs < 20) executor.MakeReady(busy);
  };
  executor.MakeReady(busy);
  EXPECT_TRUE(Eventually([&] { return runs == 20; }));
  Gate gate;
  idle->work = [&](int) { gate.Open(); };
  executor.MakeReady(idle);
  gate.Pass();
  EXPECT_GE(idle->used_ns(), 1'800'000'000);
  EXPECT_LT(idle->used_ns(), busy->used_ns());
}

TEST(Executor, TakesTheClientThatUsedLeast) {
  Executor executor(1);
  Gate gate;
  const auto first = std::make_shared<FakeClient>();
  first->work = [&](int) { gate.Pass(); };
  executor.MakeReady(first);
  gate.AwaitWaiting(1);
  std::vector<int> order;
  std::vector<std::shared_ptr<FakeClient>> clients;
  std::atomic<int> left{3};
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_shared<FakeClient>());
    clients.back()->Charge((3 - i) * 1000);
    clients.back()->work = [&, i](int threads) {
      order.push_back(i);
      EXPECT_EQ(threads, 1);
      --left;
    };
    executor.MakeReady(clients.back());
    executor.MakeReady(clients.back());  // has no further effect
  }
  gate.Open();
  EXPECT_TRUE(Eventually([&] { return left == 0; }));
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
}

TEST(Executor, BackgroundClientsTakeNoThreadOfOthers) {
  Executor executor(1);
  const auto background = std::make_shared<FakeClient>(), live = std::make_shared<FakeClient>();
  Gate busy, done;
  std::atomic<int> niceness{-1}, threads{0}, runs{0};
  background->work = [&](int usable) {
    niceness = getpriority(PRIO_PROCESS, 0);
    threads = usable;
    ++runs;
    busy.Pass();
  };
  live->work = [&](int) { done.Open(); };
  executor.SetBackground(background, true);
  executor.MakeReady(background);
  busy.AwaitWaiting(1);
  executor.MakeReady(live);
  done.Pass();  // the only thread for other clients is free
  EXPECT_GE(niceness, std::min(19, getpriority(PRIO_PROCESS, 0) + 1));
  EXPECT_EQ(threads, 1);
  busy.Open();
  executor.SetBackground(background, false);
  executor.MakeReady(background);
  EXPECT_TRUE(Eventually([&] { return runs == 2; }));
  EXPECT_EQ(niceness, getpriority(PRIO_PROCESS, 0)) << "it is live now";
}

// Executions that hang must not keep other models from being tried.
TEST(Executor, HungBackgroundClientsDoNotKeepOthersWaiting) {
  Executor executor(4, milliseconds(5));
  Gate hang;
  std::vector<std::shared_ptr<FakeClient>> clients;
  std::atomic<int> ended{0}, runs{0};
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_shared<FakeClient>());
    clients.back()->work = [&](int) { hang.Pass(), ++ended; };
  }
  clients.push_back(std::make_shared<FakeClient>());
  clients.back()->work = [&](int) { ++runs; };
  for (const auto& client : clients) {
    executor.SetBackground(client, true);
    executor.MakeReady(client);
  }
  EXPECT_TRUE(Eventually([&] { return runs == 1; }));
  EXPECT_EQ(ended, 0);
  hang.Open();
  EXPECT_TRUE(Eventually([&] { return ended == 5; }));
  executor.MakeReady(clients.back());
  EXPECT_TRUE(Eventually([&] { return runs == 2; }));
}

TEST(Executor, TheLogNamesTheClientsThatTakeAllBackgroundThreads) {
  Executor executor(1, milliseconds(5), 2);
  Gate hang;
  std::vector<std::shared_ptr<FakeClient>> clients;
  std::atomic<int> ended{0};
  testing::internal::CaptureStderr();
  for (const char* name : {"model 'a'", "model 'b'", "model 'c'"}) {
    clients.push_back(std::make_shared<FakeClient>());
    clients.back()->name = name;
    clients.back()->work = [&](int) { hang.Pass(), ++ended; };
    executor.SetBackground(clients.back(), true);
    executor.MakeReady(clients.back());
  }
  std::string log;
  EXPECT_TRUE(Eventually([&] {
    log += testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return log.find("all 2 threads") != std::string::npos;
  }));
  (void)testing::internal::GetCapturedStderr();
  for (const char* name : {"model 'a' for ", "model 'b' for "})
    EXPECT_NE(log.find(name), std::string::npos) << log;
  EXPECT_EQ(log.find("model 'c'"), std::string::npos) << "it waits";
  hang.Open();
  EXPECT_TRUE(Eventually([&] { return ended == 3; }));
}

TEST(Executor, TheEarliestTimerCounts) {
  Executor executor(1);
  const auto client = std::make_shared<FakeClient>();
  std::atomic<int> fired{0};
  client->timer = [&] { ++fired; };
  const auto now = Clock::now();
  executor.At(now + milliseconds(200), client);
  executor.At(now + milliseconds(10), client);
  executor.At(now + milliseconds(100), client);
  executor.At(kNever, client);
  EXPECT_TRUE(Eventually([&] { return fired == 1; }));
  EXPECT_GE(Clock::now() - now, milliseconds(10));
  EXPECT_LT(Clock::now() - now, milliseconds(100));
  std::this_thread::sleep_until(now + milliseconds(250));
  EXPECT_EQ(fired, 1) << "later timers were replaced";
}

TEST(Executor, AClientHasOneTimer) {
  Executor executor(1);
  const auto client = std::make_shared<FakeClient>();
  client->timer = [] {};
  const auto later = Clock::now() + std::chrono::hours(1);
  for (int i = 0; i < 100; ++i) executor.At(later - milliseconds(i), client);
  EXPECT_EQ(executor.timers(), 1u);
}

// What a client used on other threads does not keep it from the executor for long.
TEST(Executor, ClientsWithALargeDebtDoNotStarve) {
  Executor executor(1);
  const auto busy = std::make_shared<FakeClient>(), indebted = std::make_shared<FakeClient>();
  std::atomic<int> runs{0};
  std::atomic<bool> ran{false};
  indebted->Charge(3'600'000'000'000);
  indebted->work = [&](int) { ran = true; };
  busy->work = [&](int) {
    busy->Charge(50'000'000);
    if (runs == 0) executor.MakeReady(indebted);
    if (++runs < 1000 && !ran) executor.MakeReady(busy);
  };
  executor.MakeReady(busy);
  EXPECT_TRUE(Eventually([&] { return ran.load(); }));
  EXPECT_LT(runs, 30);
}

TEST(Executor, TimersDoNotKeepClientsAlive) {
  Executor executor(1);
  auto client = std::make_shared<FakeClient>();
  executor.At(Clock::now() + milliseconds(20), client);
  const std::weak_ptr<FakeClient> weak = client;
  client.reset();
  EXPECT_TRUE(weak.expired());
  std::this_thread::sleep_for(milliseconds(40));
}

// Requests are submitted while the model is removed. Each request must get exactly one answer.
TEST(Executor, RemoveAgainstSubmit) {
  for (int round = 0; round < 20; ++round) {
    SchedulerOptions options;
    options.threads = 2;
    options.inline_below = microseconds(round % 2 ? 1000 : 0);
    auto scheduler = Scheduler::Create(options);
    ModelConfig config = IntModel(4);
    config.batching.emplace();
    config.batching->max_queue_delay = microseconds(round % 3 ? 0 : 200);
    auto model = *scheduler->Add(config, "1", std::make_unique<FakeModel>(Identity));
    std::vector<std::vector<std::shared_ptr<TestCall>>> calls(2);
    std::vector<std::thread> threads;
    for (auto& mine : calls)
      threads.emplace_back([&] {
        for (int i = 0; i < 200; ++i) model->Submit(mine.emplace_back(IntCall(i)));
      });
    scheduler->Remove(model, milliseconds(round % 4));
    for (auto& thread : threads) thread.join();
    model.reset();
    scheduler.reset();
    for (const auto& mine : calls)
      for (const auto& call : mine) {
        call->Wait();
        EXPECT_EQ(call->count(), 1u);
      }
  }
}

}  // namespace
}  // namespace tern::server
