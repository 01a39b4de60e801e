#include "server/scheduler/scheduler.h"

#include <ctime>
#include <deque>
#include <stdexcept>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

SchedulerOptions Options(int threads = 2, microseconds inline_below = microseconds(0)) {
  SchedulerOptions options;
  options.threads = threads;
  options.inline_below = inline_below;
  return options;
}

std::shared_ptr<ModelVersion> Add(Scheduler& scheduler, ModelConfig config, RunFunction run) {
  auto version = scheduler.Add(std::move(config), "1", std::make_unique<FakeModel>(std::move(run)));
  EXPECT_TRUE(version.ok()) << version.status().ToString();
  return *version;
}

size_t Failures(ModelVersion& model, FailReason reason) {
  return model.statistics().Snapshot().failures[static_cast<size_t>(reason)];
}

TEST(Scheduler, RunsARequest) {
  auto scheduler = Scheduler::Create(Options());
  auto model = Add(*scheduler, IntModel(4), Identity);
  const auto call = IntCall(42);
  model->Submit(call);
  const Response response = call->Wait();
  ASSERT_TRUE(response.status.ok()) << response.status.ToString();
  EXPECT_EQ(ToInts(response.outputs.at(0)), std::vector<int32_t>{42});
  EXPECT_EQ(response.outputs[0].dims, (Dims{1, 1}));
  EXPECT_EQ(model->MemoryBytes(), 7u);
  EXPECT_EQ(model->Metrics().at(0).second, 3);
  const auto statistics = model->statistics().Snapshot();
  EXPECT_EQ(statistics.success.count, 1u);
  EXPECT_EQ(statistics.execution_count, 1u);
  EXPECT_EQ(statistics.batches.at(1).compute.count, 1u);
  const CallTimes& t = call->times;
  EXPECT_TRUE(t.queued <= t.started && t.started <= t.input && t.input <= t.compute &&
              t.compute <= t.output && t.output <= t.finished);
}

TEST(Scheduler, RefusesBadRequestsAndConfigurations) {
  auto scheduler = Scheduler::Create(Options());
  auto model = Add(*scheduler, IntModel(4), Identity);
  const auto call = IntCall(1, {9, 1});
  model->Submit(call);
  EXPECT_EQ(call->Wait().status.code(), Code::kInvalidArgument);
  EXPECT_EQ(Failures(*model, FailReason::kOther), 1u);
  ModelConfig config = IntModel();
  config.instances = 0;
  EXPECT_FALSE(scheduler->Add(config, "1", std::make_unique<FakeModel>(Identity)).ok());
  config.instances = 1;
  config.max_batch_size = -1;
  EXPECT_FALSE(scheduler->Add(config, "1", std::make_unique<FakeModel>(Identity)).ok());
  EXPECT_FALSE(scheduler->Add(IntModel(), "1", nullptr).ok());
}

TEST(Scheduler, ErrorsAndExceptionsOfTheBackEndReachTheClient) {
  auto scheduler = Scheduler::Create(Options());
  auto model = Add(*scheduler, IntModel(4), [](Batch& batch) -> Result<std::vector<WireTensor>> {
    if (ToInts(batch.inputs[0])[0] == 1) throw std::runtime_error("thrown");
    return Status(Code::kInternal, "returned");
  });
  const auto thrown = IntCall(1), returned = IntCall(2);
  model->Submit(thrown);
  model->Submit(returned);
  EXPECT_NE(thrown->Wait().status.message().find("thrown"), std::string::npos);
  EXPECT_EQ(returned->Wait().status.message(), "returned");
  EXPECT_EQ(Failures(*model, FailReason::kBackend), 2u);
}

TEST(Scheduler, SmallModelsRunOnTheSubmittingThread) {
  auto scheduler = Scheduler::Create(Options(2, std::chrono::seconds(5)));
  auto model = Add(*scheduler, IntModel(4), Identity);
  const auto first = IntCall(1);
  model->Submit(first);
  first->Wait();
  EXPECT_NE(first->thread(), std::this_thread::get_id()) << "nothing is known about the first";
  for (int i = 0; i < 100; ++i) {
    const auto call = IntCall(i);
    model->Submit(call);
    EXPECT_EQ(ToInts(call->Wait().outputs.at(0))[0], i);
    EXPECT_EQ(call->thread(), std::this_thread::get_id());
  }
}

TEST(Scheduler, SlowModelsDoNotBlockTheSubmittingThread) {
  auto scheduler = Scheduler::Create(Options(2, microseconds(100)));
  auto model = Add(*scheduler, IntModel(4), [](Batch& batch) {
    std::this_thread::sleep_for(milliseconds(2));
    return Identity(batch);
  });
  for (int i = 0; i < 10; ++i) {
    const auto call = IntCall(i);
    model->Submit(call);
    call->Wait();
    EXPECT_NE(call->thread(), std::this_thread::get_id());
  }
}

// Each answer submits the next request on the same thread. The depth of the stack must not grow with the
// number of requests.
TEST(Scheduler, ChainsOfInlineRequestsDoNotNest) {
  auto scheduler = Scheduler::Create(Options(2, std::chrono::seconds(5)));
  auto model = Add(*scheduler, IntModel(4), Identity);
  std::atomic<int> left{20'000};
  Gate done;
  std::function<void()> next = [&] {
    if (left.fetch_sub(1) <= 0) return done.Open();
    const auto call = IntCall(1);
    call->on_final = next;
    model->Submit(call);
  };
  next();
  done.Pass();
  scheduler->Remove(model, milliseconds(20'000));
  EXPECT_EQ(model->statistics().Snapshot().success.count, 20'000u);
}

TEST(Scheduler, ManyThreadsSubmitInline) {
  auto scheduler = Scheduler::Create(Options(2, std::chrono::seconds(5)));
  for (const int instances : {1, 3}) {
    ModelConfig config = IntModel(8);
    config.instances = instances;
    config.batching.emplace();
    auto model = Add(*scheduler, config, Identity);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          const auto call = IntCall(t * 1000 + i);
          model->Submit(call);
          const Response response = call->Wait();
          ASSERT_TRUE(response.status.ok());
          EXPECT_EQ(ToInts(response.outputs.at(0)), std::vector<int32_t>{t * 1000 + i});
        }
      });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(model->statistics().Snapshot().success.count, 2000u);
  }
}

TEST(Scheduler, CancelFreesThePlaceInTheQueue) {
  auto scheduler = Scheduler::Create(Options());
  Gate gate;
  auto model = Add(*scheduler, IntModel(4), [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto running = IntCall(1), waiting = IntCall(2), last = IntCall(3);
  model->Submit(running);
  gate.AwaitWaiting(1);
  model->Submit(waiting);
  model->Submit(last);
  EXPECT_EQ(model->Pending(), 2u);
  const auto before = Clock::now();
  waiting->Cancel();
  EXPECT_EQ(waiting->Wait().status.code(), Code::kCancelled);
  EXPECT_LT(Clock::now() - before, milliseconds(10));
  EXPECT_EQ(model->Pending(), 1u);
  EXPECT_EQ(Failures(*model, FailReason::kCancelled), 1u);
  gate.Open();
  EXPECT_TRUE(running->Wait().status.ok());
  EXPECT_TRUE(last->Wait().status.ok());
}

TEST(Scheduler, CancelStopsARunningRequest) {
  auto scheduler = Scheduler::Create(Options());
  auto model = Add(*scheduler, IntModel(4), [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    while (batch.stop.Check().ok()) std::this_thread::sleep_for(milliseconds(1));
    return batch.stop.Check();
  });
  const auto call = IntCall(1);
  model->Submit(call);
  EXPECT_TRUE(Eventually([&] { return model->Pending() == 0; }));
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(Failures(*model, FailReason::kCancelled), 1u);
}

TEST(Scheduler, CancelledCallsAreNotExecuted) {
  auto scheduler = Scheduler::Create(Options(2, std::chrono::seconds(5)));
  std::atomic<int> runs{0};
  auto model = Add(*scheduler, IntModel(4), [&](Batch& batch) {
    ++runs;
    return Identity(batch);
  });
  for (int i = 0; i < 3; ++i) {
    const auto call = IntCall(1);
    call->Cancel();
    model->Submit(call);
    EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
    EXPECT_EQ(call->count(), 1u);
  }
}

TEST(Scheduler, CancelAgainstExecution) {
  auto scheduler = Scheduler::Create(Options());
  ModelConfig config = IntModel(4);
  config.instances = 2;
  config.batching.emplace();
  auto model = Add(*scheduler, config, Identity);
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 2000; ++i) calls.push_back(IntCall(i));
  std::thread canceller([&] {
    for (size_t i = 0; i < calls.size(); i += 3) calls[i]->Cancel();
  });
  for (const auto& call : calls) model->Submit(call);
  canceller.join();
  for (const auto& call : calls) {
    call->Wait();
    EXPECT_EQ(call->count(), 1u);
  }
  scheduler->Remove(model, milliseconds(1000));
  const auto s = model->statistics().Snapshot();
  EXPECT_EQ(s.success.count + s.fail.count, 2000u);
}

TEST(Scheduler, QueueTimeoutsWorkWhileAllThreadsAreBusy) {
  auto scheduler = Scheduler::Create(Options(1));
  ModelConfig config = IntModel(4);
  config.batching.emplace();
  config.batching->default_policy.default_timeout = milliseconds(20);
  Gate gate;
  auto model = Add(*scheduler, config, [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto running = IntCall(1), waiting = IntCall(2);
  model->Submit(running);
  gate.AwaitWaiting(1);
  model->Submit(waiting);
  const Response response = waiting->Wait();
  EXPECT_EQ(response.status.code(), Code::kUnavailable);
  EXPECT_EQ(response.status.message(), "Request timeout expired");
  EXPECT_EQ(Failures(*model, FailReason::kRejected), 1u);
  gate.Open();
  EXPECT_TRUE(running->Wait().status.ok());
}

TEST(Scheduler, FullQueuesRefuse) {
  auto scheduler = Scheduler::Create(Options());
  ModelConfig config = IntModel(4);
  config.batching.emplace();
  config.batching->default_policy.max_queue_size = 1;
  Gate gate;
  auto model = Add(*scheduler, config, [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto running = IntCall(1), waiting = IntCall(2), refused = IntCall(3);
  model->Submit(running);
  gate.AwaitWaiting(1);
  model->Submit(waiting);
  model->Submit(refused);
  EXPECT_EQ(refused->Wait().status.message(), "Exceeds maximum queue size");
  gate.Open();
  EXPECT_TRUE(waiting->Wait().status.ok());
}

TEST(Scheduler, InstancesLimitConcurrency) {
  auto scheduler = Scheduler::Create(Options(4));
  ModelConfig config = IntModel(4);
  config.instances = 2;
  std::atomic<int> inside{0}, most{0};
  auto model = Add(*scheduler, config, [&](Batch& batch) {
    const int now = inside.fetch_add(1) + 1;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(milliseconds(2));
    inside.fetch_sub(1);
    return Identity(batch);
  });
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 20; ++i) model->Submit(calls.emplace_back(IntCall(i)));
  for (const auto& call : calls) EXPECT_TRUE(call->Wait().status.ok());
  EXPECT_EQ(most, 2);
}

TEST(Scheduler, RemoveAnswersWhatWasAccepted) {
  auto scheduler = Scheduler::Create(Options());
  auto model = Add(*scheduler, IntModel(4), [](Batch& batch) {
    std::this_thread::sleep_for(milliseconds(2));
    return Identity(batch);
  });
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 20; ++i) model->Submit(calls.emplace_back(IntCall(i)));
  scheduler->Remove(model, milliseconds(20'000));
  for (const auto& call : calls) {
    EXPECT_EQ(call->count(), 1u) << "answered before Remove returns";
    EXPECT_TRUE(call->Wait().status.ok());
  }
  const auto late = IntCall(1);
  model->Submit(late);
  EXPECT_EQ(late->Wait().status.code(), Code::kUnavailable);
}

TEST(Scheduler, RemoveGivesUpAfterItsLimit) {
  auto scheduler = Scheduler::Create(Options());
  Gate gate;
  auto model = Add(*scheduler, IntModel(4), [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto running = IntCall(1), waiting = IntCall(2);
  model->Submit(running);
  gate.AwaitWaiting(1);
  model->Submit(waiting);
  scheduler->Remove(model, milliseconds(10));
  EXPECT_EQ(running->Wait().status.code(), Code::kUnavailable);
  EXPECT_EQ(waiting->Wait().status.code(), Code::kUnavailable);
  gate.Open();
}

TEST(Scheduler, DestructionAnswersWhatWaits) {
  const auto call = IntCall(1);
  {
    auto scheduler = Scheduler::Create(Options());
    ModelConfig config = IntModel(4);
    config.batching.emplace();
    config.batching->max_queue_delay = std::chrono::seconds(100);
    auto model = Add(*scheduler, config, Identity);
    model->Submit(call);
  }
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
}

TEST(Scheduler, OneExecutionGetsAllThreadsOnlyIfNothingElseWaits) {
  auto scheduler = Scheduler::Create(Options(3));
  std::mutex mutex;
  std::vector<int> threads;
  Gate gate;
  const auto run = [&](Batch& batch) {
    {
      const std::lock_guard lock(mutex);
      threads.push_back(batch.threads);
    }
    gate.Pass();
    return Identity(batch);
  };
  auto a = Add(*scheduler, IntModel(4), run), b = Add(*scheduler, IntModel(4), run);
  const auto first = IntCall(1), second = IntCall(2);
  a->Submit(first);
  gate.AwaitWaiting(1);
  b->Submit(second);
  gate.AwaitWaiting(2);
  gate.Open();
  first->Wait();
  second->Wait();
  EXPECT_EQ(threads, (std::vector<int>{3, 1}));
}

TEST(Scheduler, DecoupledModelsSendManyResponses) {
  auto scheduler = Scheduler::Create(Options());
  ModelConfig config = IntModel(4);
  config.decoupled = true;
  auto added = scheduler->Add(config, "1",
                              std::make_unique<FakeModel>(Identity, [](const std::shared_ptr<Call>& call) {
                                for (int i = 0; i < 3; ++i) {
                                  Response response;
                                  response.outputs.push_back(Ints("y", {1, 1}, {i}));
                                  response.final = false;
                                  call->Respond(std::move(response));
                                }
                                if (ToInts(call->request.inputs[0])[0] == 1) call->Respond(Response());
                              }));
  ASSERT_TRUE(added.ok());
  const auto complete = IntCall(1), broken = IntCall(2);
  (*added)->Submit(complete);
  EXPECT_TRUE(complete->Wait().status.ok());
  EXPECT_EQ(complete->count(), 4u);
  EXPECT_EQ(ToInts(complete->responses()[2].outputs.at(0)), std::vector<int32_t>{2});
  (*added)->Submit(broken);
  EXPECT_EQ(broken->Wait().status.code(), Code::kInternal) << "the model sent no final response";
  scheduler->Remove(*added, milliseconds(20'000));
  EXPECT_EQ((*added)->statistics().Snapshot().success.count, 1u);
  EXPECT_EQ(Failures(**added, FailReason::kBackend), 1u);
}

TEST(Scheduler, DecoupledCallsCanBeCancelled) {
  auto scheduler = Scheduler::Create(Options());
  ModelConfig config = IntModel(4);
  config.decoupled = true;
  auto added = scheduler->Add(config, "1",
                              std::make_unique<FakeModel>(Identity, [](const std::shared_ptr<Call>& call) {
                                while (!call->cancelled()) std::this_thread::sleep_for(milliseconds(1));
                                Response response;
                                response.status = Status(Code::kCancelled, "stopped");
                                call->Respond(std::move(response));
                              }));
  const auto call = IntCall(1);
  (*added)->Submit(call);
  EXPECT_TRUE(Eventually([&] { return (*added)->Pending() == 0; }));
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
}

void Spin(microseconds time) {
  timespec t{};
  const auto cpu = [&] {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
  };
  for (const auto end = cpu() + time; cpu() < end;) {
  }
}

// Eight models with different costs always have waiting requests. Each must get about the same processor
// time.
TEST(Scheduler, SharesTheCoresFairly) {
  auto scheduler = Scheduler::Create(Options(2));
  std::atomic<bool> stop{false};
  std::vector<std::shared_ptr<ModelVersion>> models;
  for (int m = 0; m < 8; ++m)
    models.push_back(Add(*scheduler, IntModel(4), [m](Batch& batch) {
      Spin(microseconds(m % 2 ? 200 : 1600));
      return Identity(batch);
    }));
  std::vector<std::thread> clients;
  for (const auto& model : models)
    clients.emplace_back([&, model] {
      std::deque<std::shared_ptr<TestCall>> calls;
      while (!stop) {
        while (calls.size() < 24) model->Submit(calls.emplace_back(IntCall(1)));
        calls.front()->Wait();
        calls.pop_front();
      }
      for (const auto& call : calls) call->Wait();
    });
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::vector<double> used;
  for (const auto& model : models) used.push_back(static_cast<double>(model->statistics().Snapshot().cpu_ns));
  stop = true;
  for (auto& client : clients) client.join();
  double sum = 0, least = used[0];
  for (const double ns : used) sum += ns, least = std::min(least, ns);
  EXPECT_GE(least, 0.8 * sum / 8);
}

}  // namespace
}  // namespace tern::server
