// Iterative sequences: requests that the model executes again until they are finished.
#include <set>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using Kind = ControlInput::Kind;

// A model that counts x down to 0 in its state, one step per iteration.
ModelConfig IterativeModel(bool decoupled, SequenceStrategy strategy = SequenceStrategy::kOldest) {
  ModelConfig config = IntModel(4);
  config.inputs[0].dims = config.outputs[0].dims = {1};
  config.decoupled = decoupled;
  config.sequence.emplace();
  config.sequence->strategy = strategy;
  config.sequence->max_candidates = 8;
  config.sequence->max_idle = microseconds(0);
  config.sequence->iterative = true;
  config.sequence->controls = {{Kind::kStart, "START", DType::kI32}, {Kind::kReady, "READY", DType::kI32}};
  config.sequence->states.push_back({"IN", "OUT", DType::kI32, {1}});
  return config;
}

std::vector<int32_t> Row(const Batch& batch, const std::string& name) {
  for (const WireTensor& input : batch.inputs)
    if (input.name == name) return ToInts(input);
  ADD_FAILURE() << "no input " << name;
  return {};
}

struct Countdown {
  std::function<void(Batch&)> before = [](Batch&) {};
  bool respond = true;

  Result<std::vector<WireTensor>> operator()(Batch& batch) const {
    before(batch);
    const auto x = Row(batch, "x"), start = Row(batch, "START"), state = Row(batch, "IN"),
               ready = Row(batch, "READY");
    std::vector<int32_t> left;
    for (size_t i = 0; i < x.size(); ++i) {
      left.push_back(ready[i] ? (start[i] ? x[i] : state[i]) - 1 : 0);
      if (left[i] > 0) batch.again.push_back({i, respond});
    }
    const Dims dims{static_cast<int64_t>(x.size()), 1};
    return std::vector<WireTensor>{Ints("y", dims, left), Ints("OUT", dims, left)};
  }
};

struct IterationServer : SchedulerWithModel {
  using SchedulerWithModel::SchedulerWithModel;
  std::vector<int32_t> Run(const std::shared_ptr<TestCall>& call) {
    SchedulerWithModel::Run(call);
    return Values(*call);
  }
  static std::vector<int32_t> Values(TestCall& call) {
    std::vector<int32_t> values;
    for (const Response& response : call.responses()) {
      EXPECT_TRUE(response.status.ok()) << response.status.ToString();
      EXPECT_EQ(response.outputs.size(), 1u) << "clients do not see the state";
      if (!response.outputs.empty()) values.push_back(ToInts(response.outputs[0]).at(0));
    }
    return values;
  }
};

TEST(Iteration, TheLastIterationAnswers) {
  std::mutex mutex;
  std::vector<int32_t> starts;
  IterationServer server(IterativeModel(false), Countdown{[&](Batch& batch) {
                           const std::lock_guard lock(mutex);
                           starts.push_back(Row(batch, "START").at(0));
                         }});
  EXPECT_EQ(server.Run(IntCall(4)), std::vector<int32_t>{0});
  EXPECT_EQ(starts, (std::vector<int32_t>{1, 0, 0, 0}));
  EXPECT_EQ(server.Run(IntCall(1)), std::vector<int32_t>{0}) << "no second iteration";
  const StatisticsSnapshot totals = server.model->statistics().Snapshot();
  EXPECT_EQ(totals.success.count, 2u) << "requests";
  EXPECT_EQ(totals.execution_count, 5u) << "iterations";
}

TEST(Iteration, StatisticsHaveTheTimesOfAllIterations) {
  constexpr milliseconds kIteration(5);
  ModelConfig config = IterativeModel(true);
  config.max_batch_size = 1;  // the requests take turns
  IterationServer server(std::move(config),
                         Countdown{[&](Batch&) { std::this_thread::sleep_for(kIteration); }});
  const auto first = IntCall(4), second = IntCall(4);
  server.model->Submit(first);
  server.model->Submit(second);
  first->Wait();
  second->Wait();
  const StatisticsSnapshot totals = server.model->statistics().Snapshot();
  EXPECT_EQ(totals.inference_count, 2u);
  EXPECT_EQ(totals.execution_count, 8u);
  EXPECT_EQ(totals.compute_infer.count, 2u);
  EXPECT_GE(totals.compute_infer.ns, static_cast<uint64_t>(std::chrono::nanoseconds(8 * kIteration).count()));
  // A request waits while the other one runs. The first one may have ended before the second one arrived.
  const auto batch = totals.batches.at(1);
  EXPECT_EQ(batch.compute.ns, totals.compute_infer.ns);
  EXPECT_LE(totals.queue.ns + totals.compute_infer.ns, totals.success.ns);
}

TEST(Iteration, ADecoupledModelRespondsInEachIteration) {
  IterationServer server(IterativeModel(true, SequenceStrategy::kDirect), Countdown());
  EXPECT_EQ(server.Run(IntCall(3)), (std::vector<int32_t>{2, 1, 0}));
  const auto call = IntCall(2);
  server.Run(call);
  EXPECT_FALSE(call->responses().at(0).final);
  EXPECT_TRUE(call->responses().at(1).final);
  IterationServer silent(IterativeModel(true), Countdown{[](Batch&) {}, false});
  EXPECT_EQ(silent.Run(IntCall(3)), std::vector<int32_t>{0});
}

// Requests join and leave a batch between two iterations.
TEST(Iteration, IterationsOfSeveralRequestsShareBatches) {
  Gate gate;
  std::mutex mutex;
  std::vector<std::vector<int32_t>> batches;
  IterationServer server(IterativeModel(true), Countdown{[&](Batch& batch) {
                           {
                             const std::lock_guard lock(mutex);
                             batches.push_back(Row(batch, "x"));
                           }
                           gate.Pass();
                         }});
  const auto longest = IntCall(5), middle = IntCall(3), shortest = IntCall(1);
  server.model->Submit(longest);
  gate.AwaitWaiting(1);
  server.model->Submit(middle);
  server.model->Submit(shortest);
  gate.Open();
  for (const auto& call : {longest, middle, shortest}) call->Wait();
  EXPECT_EQ(IterationServer::Values(*longest), (std::vector<int32_t>{4, 3, 2, 1, 0}));
  EXPECT_EQ(IterationServer::Values(*middle), (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(IterationServer::Values(*shortest), std::vector<int32_t>{0});
  ASSERT_EQ(batches.size(), 5u) << "one batch per iteration of the longest request";
  EXPECT_EQ(batches[0].size(), 1u);
  EXPECT_EQ(batches[1].size(), 3u);
  EXPECT_EQ(batches[2].size(), 2u);
  EXPECT_EQ(batches[4].size(), 1u);
}

TEST(Iteration, MoreRequestsThanSlots) {
  ModelConfig config = IterativeModel(true, SequenceStrategy::kDirect);
  config.instances = 2;
  IterationServer server(std::move(config), Countdown());
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 64; ++i) server.model->Submit(calls.emplace_back(IntCall(1 + i % 7)));
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i]->Wait();
    const std::vector<int32_t> values = IterationServer::Values(*calls[i]);
    EXPECT_EQ(values.size(), 1 + i % 7);
    EXPECT_EQ(values.back(), 0);
  }
  EXPECT_EQ(server.model->Pending(), 0u);
}

// Ids that the server makes are not those of clients.
TEST(Iteration, ClientsMayNameSequences) {
  Gate gate;
  IterationServer server(IterativeModel(true), Countdown{[&](Batch&) { gate.Pass(); }});
  const auto unnamed = IntCall(2), named = IntCall(3);
  named->request.sequence = {"1", true, true, false};
  server.model->Submit(unnamed);
  gate.AwaitWaiting(1);
  server.model->Submit(named);
  gate.Open();
  unnamed->Wait();
  named->Wait();
  EXPECT_EQ(IterationServer::Values(*unnamed), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(IterationServer::Values(*named), (std::vector<int32_t>{2, 1, 0}));
  const auto late = IntCall(3);
  late->request.sequence = {"1", true, false, false};
  server.model->Submit(late);
  EXPECT_EQ(late->Wait().status.message(),
            "inference request for sequence 1 to model 'm' must specify the START flag on the first request "
            "of the sequence")
      << "the sequence ended with its request";
}

// The back end may keep something per id, so ids of clients and of the server must differ.
TEST(Iteration, TheIdsOfTheServerAreNotThoseOfClients) {
  for (const auto& [type, first] : {std::pair{DType::kU64, "18446744073709551615"},
                                    {DType::kI64, "9223372036854775807"},
                                    {DType::kU32, "4294967295"},
                                    {DType::kI32, "2147483647"}}) {
    SCOPED_TRACE(first);
    ModelConfig config = IterativeModel(true);
    config.sequence->controls.push_back({Kind::kCorrelationId, "ID", type});
    Gate gate;
    std::mutex mutex;
    std::set<std::string> ids;
    IterationServer server(std::move(config), Countdown{[&](Batch& batch) {
                             gate.Pass();
                             const std::lock_guard lock(mutex);
                             for (const Request* request : *batch.requests)
                               if (request) ids.insert(request->sequence.id);
                           }});
    const auto named = [](const std::string& id) {
      auto call = IntCall(2);
      call->request.sequence = {id, true, true, false};
      return call;
    };
    const auto client = named("1"), unnamed = IntCall(2), same = named(first);
    server.model->Submit(client);
    gate.AwaitWaiting(1);
    server.model->Submit(unnamed);
    server.model->Submit(same);
    EXPECT_EQ(same->Wait().status.message(), StrCat("inference request to model 'm' has sequence id ", first,
                                                    ", which the server gave to another request; choose "
                                                    "another id"));
    gate.Open();
    unnamed->Wait();
    client->Wait();
    EXPECT_EQ(server.Run(named(first)), (std::vector<int32_t>{1, 0})) << "the id is free again";
    EXPECT_EQ(ids, (std::set<std::string>{"1", first}));
  }
}

// The server passes over an id that a client uses, as a number or as a string.
TEST(Iteration, TheServerSkipsIdsInUse) {
  for (const bool numeric : {true, false}) {
    Gate gate;
    IterationServer server(IterativeModel(true), Countdown{[&](Batch&) { gate.Pass(); }});
    const auto named = IntCall(3), unnamed = IntCall(2);
    named->request.sequence = {"9223372036854775807", numeric, true, false};
    server.model->Submit(named);
    gate.AwaitWaiting(1);
    server.model->Submit(unnamed);
    EXPECT_EQ(unnamed->request.sequence.id, "9223372036854775806");
    gate.Open();
    unnamed->Wait();
    named->Wait();
    EXPECT_EQ(IterationServer::Values(*unnamed), (std::vector<int32_t>{1, 0}));
    EXPECT_EQ(IterationServer::Values(*named), (std::vector<int32_t>{2, 1, 0}));
  }
}

TEST(Iteration, OtherModelsCannotReschedule) {
  for (const bool sequence : {false, true}) {
    ModelConfig config = IterativeModel(false);
    config.sequence->iterative = false;
    if (!sequence) config.sequence.reset();
    IterationServer server(std::move(config), [](Batch& batch) {
      batch.again.push_back({0, false});
      return Identity(batch);
    });
    const auto call = IntCall(2);
    if (sequence) call->request.sequence = {"1", true, true, true};
    server.model->Submit(call);
    EXPECT_EQ(call->Wait().status.message().find("Request is released with "
                                                 "TRITONSERVER_REQUEST_RELEASE_RESCHEDULE"),
              0u);
  }
}

TEST(Iteration, RefusesRowsThatDoNotExist) {
  IterationServer server(IterativeModel(false), [](Batch& batch) {
    batch.again.push_back({3, false});
    return Identity(batch);
  });
  const auto call = IntCall(2);
  server.model->Submit(call);
  EXPECT_EQ(call->Wait().status.message(), "the back end reschedules row 3 of a batch of 1");
}

TEST(Iteration, AnErrorEndsTheRequest) {
  std::atomic<int> runs{0};
  IterationServer server(IterativeModel(true), [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    if (++runs == 2) return Unavailable("no second iteration");
    return Countdown()(batch);
  });
  const auto call = IntCall(9);
  server.model->Submit(call);
  EXPECT_EQ(call->Wait().status.message(), "no second iteration");
  EXPECT_EQ(call->count(), 2u);
  EXPECT_EQ(server.Run(IntCall(2)), (std::vector<int32_t>{1, 0})) << "the slot is free again";
}

TEST(Iteration, CancelledBetweenIterations) {
  std::shared_ptr<TestCall> call = IntCall(1'000'000'000);
  std::atomic<int> runs{0};
  IterationServer server(IterativeModel(false), Countdown{[&](Batch&) {
                           if (++runs == 3) call->Cancel();
                         }});
  server.model->Submit(call);
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(server.Run(IntCall(2)), std::vector<int32_t>{0});
}

TEST(Iteration, LimitOnOneIteration) {
  ModelConfig config = IterativeModel(false);
  config.sequence->max_idle = milliseconds(1);
  IterationServer server(std::move(config),
                         Countdown{[](Batch&) { std::this_thread::sleep_for(milliseconds(5)); }});
  const auto call = IntCall(2);
  server.model->Submit(call);
  const std::string message = call->Wait().status.message();
  EXPECT_NE(message.find("must specify the START flag on the first request of the sequence"),
            std::string::npos)
      << message;
  EXPECT_EQ(server.Run(IntCall(1)), std::vector<int32_t>{0}) << "the last iteration has no limit";
}

TEST(Iteration, RemovingTheModelEndsEndlessRequests) {
  IterationServer server(IterativeModel(false), Countdown());
  const auto call = IntCall(1'000'000'000);
  server.model->Submit(call);
  server.scheduler->Remove(server.model, milliseconds(20));
  EXPECT_FALSE(call->Wait().status.ok());
  EXPECT_EQ(call->count(), 1u);
}

}  // namespace
}  // namespace tern::server
