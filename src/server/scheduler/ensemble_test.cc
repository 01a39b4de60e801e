#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

// Returns a model that adds a constant to x.
RunFunction Plus(int32_t constant) {
  return [constant](Batch& batch) -> Result<std::vector<WireTensor>> {
    auto values = ToInts(batch.inputs[0]);
    for (int32_t& value : values) value += constant;
    return std::vector<WireTensor>{Ints("y", batch.inputs[0].dims, values)};
  };
}

struct Server {
  Registry registry;
  std::unique_ptr<Scheduler> scheduler = Scheduler::Create(SchedulerOptions{2, microseconds(100)});

  std::shared_ptr<ModelVersion> Add(const std::string& name, RunFunction run) {
    ModelConfig config = IntModel(4);
    config.name = name;
    auto added = scheduler->Add(config, "1", std::make_unique<FakeModel>(std::move(run)));
    EXPECT_TRUE(added.ok());
    registry.Publish(name, {*added});
    return *added;
  }
  Result<std::shared_ptr<ModelVersion>> Ensemble(std::vector<EnsembleStep> steps) {
    ModelConfig config = IntModel(4);
    config.name = "e";
    config.ensemble = std::move(steps);
    return scheduler->AddEnsemble(config, "1", registry);
  }
};

EnsembleStep Step(const std::string& model, const std::string& from, const std::string& to) {
  return {model, "", {{"x", from}}, {{"y", to}}};
}

TEST(Ensemble, RunsAChain) {
  Server server;
  server.Add("a", Plus(1));
  server.Add("b", Plus(10));
  auto ensemble = server.Ensemble({Step("b", "t", "y"), Step("a", "x", "t")});
  ASSERT_TRUE(ensemble.ok()) << ensemble.status().ToString();
  for (int i = 0; i < 50; ++i) {
    const auto call = IntCall(i);
    (*ensemble)->Submit(call);
    const Response response = call->Wait();
    ASSERT_TRUE(response.status.ok()) << response.status.ToString();
    EXPECT_EQ(response.outputs.at(0).name, "y");
    EXPECT_EQ(ToInts(response.outputs[0]), std::vector<int32_t>{i + 11});
  }
  const auto statistics = (*ensemble)->statistics().Snapshot();
  EXPECT_EQ(statistics.success.count, 50u);
  EXPECT_EQ(statistics.execution_count, 50u);
}

TEST(Ensemble, ConvertsBetweenModelsWithAndWithoutBatchDim) {
  Server server;
  server.Add("a", Plus(1));  // has a batch dim
  ModelConfig config = IntModel(0);
  config.name = "e";
  config.ensemble = {Step("a", "x", "t"), Step("a", "t", "y")};
  auto outer = server.scheduler->AddEnsemble(config, "1", server.registry);
  ASSERT_TRUE(outer.ok()) << outer.status().ToString();
  const auto call = IntCall(5, {1});
  (*outer)->Submit(call);
  const Response response = call->Wait();
  ASSERT_TRUE(response.status.ok()) << response.status.ToString();
  EXPECT_EQ(response.outputs.at(0).dims, (Dims{1}));
  EXPECT_EQ(ToInts(response.outputs[0]), std::vector<int32_t>{7});
}

TEST(Ensemble, HasTheLabelsOfItsSteps) {
  Server server;
  ModelConfig config = IntModel(4);
  config.name = "a";
  config.outputs[0].labels = {"cat", "dog"};
  auto added = server.scheduler->Add(config, "1", std::make_unique<FakeModel>(Identity));
  ASSERT_TRUE(added.ok());
  server.registry.Publish("a", {*added});
  auto ensemble = server.Ensemble({Step("a", "x", "y")});
  ASSERT_TRUE(ensemble.ok()) << ensemble.status().ToString();
  EXPECT_EQ((*ensemble)->config().outputs[0].labels, (std::vector<std::string>{"cat", "dog"}));
}

TEST(Ensemble, HandsTensorsOnWithoutCopies) {
  Server server;
  server.Add("a", Identity);
  server.Add("b", Identity);
  auto ensemble = server.Ensemble({Step("a", "x", "t"), Step("b", "t", "y")});
  const auto call = IntCall(1);
  (*ensemble)->Submit(call);
  EXPECT_EQ(call->Wait().outputs.at(0).bytes.data(), call->request.inputs[0].bytes.data());
}

// The two steps wait for each other, so they must run at the same time.
TEST(Ensemble, StartsStepsAsSoonAsTheirInputsExist) {
  Server server;
  Gate left, right;
  const auto meet = [](Gate& mine, Gate& other) {
    return [&](Batch& batch) {
      other.Open();
      mine.Pass();
      return Identity(batch);
    };
  };
  server.Add("left", meet(left, right));
  server.Add("right", meet(right, left));
  auto ensemble = server.Ensemble({Step("left", "x", "y"), Step("right", "x", "z")});
  const auto call = IntCall(5);
  (*ensemble)->Submit(call);
  EXPECT_TRUE(call->Wait().status.ok());
}

TEST(Ensemble, ErrorsPropagateAndStopTheOthers) {
  Server server;
  server.Add("bad",
             [](Batch&) -> Result<std::vector<WireTensor>> { return Status(Code::kInternal, "broken"); });
  std::atomic<bool> stopped{false};
  server.Add("slow", [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    while (batch.stop.Check().ok()) std::this_thread::sleep_for(milliseconds(1));
    stopped = true;
    return batch.stop.Check();
  });
  auto ensemble = server.Ensemble({Step("slow", "x", "z"), Step("bad", "x", "y")});
  const auto call = IntCall(1);
  (*ensemble)->Submit(call);
  EXPECT_EQ(call->Wait().status.message(), "broken");
  EXPECT_TRUE(Eventually([&] { return stopped.load(); }));
  EXPECT_EQ((*ensemble)->statistics().Snapshot().fail.count, 1u);
}

TEST(Ensemble, CancelPropagates) {
  Server server;
  std::atomic<bool> started{false}, stopped{false};
  server.Add("slow", [&](Batch& batch) -> Result<std::vector<WireTensor>> {
    started = true;
    while (batch.stop.Check().ok()) std::this_thread::sleep_for(milliseconds(1));
    stopped = true;
    return batch.stop.Check();
  });
  auto ensemble = server.Ensemble({Step("slow", "x", "y")});
  const auto call = IntCall(1);
  (*ensemble)->Submit(call);
  EXPECT_TRUE(Eventually([&] { return started.load(); }));
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  EXPECT_TRUE(Eventually([&] { return stopped.load(); }));
}

TEST(Ensemble, MissingModelsFailTheRequest) {
  Server server;
  auto ensemble = server.Ensemble({Step("none", "x", "y")});
  const auto call = IntCall(1);
  (*ensemble)->Submit(call);
  EXPECT_EQ(call->Wait().status.code(), Code::kNotFound);
}

TEST(Ensemble, RefusesBadGraphs) {
  Server server;
  EXPECT_FALSE(server.Ensemble({}).ok());
  EXPECT_FALSE(server.Ensemble({Step("a", "x", "t")}).ok()) << "no source of y";
  EXPECT_FALSE(server.Ensemble({Step("a", "q", "y")}).ok()) << "no source of q";
  EXPECT_FALSE(server.Ensemble({Step("a", "u", "t"), Step("b", "t", "u"), Step("c", "x", "y")}).ok())
      << "cycle";
  EXPECT_FALSE(server.Ensemble({Step("a", "x", "y"), Step("b", "x", "y")}).ok()) << "two sources";
}

// Other steps wait for the outputs of a step that ends without any.
TEST(Ensemble, AStepWithoutOutputsFailsTheRequest) {
  Server server;
  ModelConfig config = IntModel(4);
  config.name = "silent";
  config.decoupled = true;
  auto silent = server.scheduler->Add(
      config, "1",
      std::make_unique<FakeModel>(Identity, [](const std::shared_ptr<Call>& call) { call->Respond({}); }));
  server.registry.Publish("silent", {*silent});
  server.Add("a", Plus(1));
  auto ensemble = server.Ensemble({Step("silent", "x", "t"), Step("a", "t", "y")});
  ASSERT_TRUE(ensemble.ok());
  const auto call = IntCall(1);
  (*ensemble)->Submit(call);
  EXPECT_EQ(call->Wait().status.code(), Code::kInternal);
}

TEST(Ensemble, RemoveAgainstSubmit) {
  for (int round = 0; round < 20; ++round) {
    Server server;
    server.Add("a", Plus(1));
    auto ensemble = server.Ensemble({Step("a", "x", "t"), Step("a", "t", "y")});
    std::vector<std::shared_ptr<TestCall>> calls;
    for (int i = 0; i < 20; ++i) calls.push_back(IntCall(i));
    std::thread client([&] {
      for (const auto& call : calls) (*ensemble)->Submit(call);
    });
    server.scheduler->Remove(*ensemble, milliseconds(0));
    client.join();
    for (const auto& call : calls) {
      call->Wait();
      EXPECT_EQ(call->count(), 1u);
    }
  }
}

TEST(Ensemble, RemoveDrains) {
  Server server;
  server.Add("a", [](Batch& batch) {
    std::this_thread::sleep_for(milliseconds(5));
    return Identity(batch);
  });
  auto ensemble = server.Ensemble({Step("a", "x", "y")});
  std::vector<std::shared_ptr<TestCall>> calls;
  for (int i = 0; i < 10; ++i) (*ensemble)->Submit(calls.emplace_back(IntCall(i)));
  server.scheduler->Remove(*ensemble, milliseconds(20'000));
  for (const auto& call : calls) EXPECT_EQ(call->count(), 1u);
  const auto late = IntCall(1);
  (*ensemble)->Submit(late);
  EXPECT_EQ(late->Wait().status.code(), Code::kUnavailable);
}

TEST(Ensemble, IsRetiredWhenItsRequestsAreAnswered) {
  Server server;
  Gate gate;
  const auto model = server.Add("a", [&](Batch& batch) {
    gate.Pass();
    return Identity(batch);
  });
  const auto ensemble = *server.Ensemble({Step("a", "x", "y")});
  const auto retired = [&](const auto& version) { return server.scheduler->Retired(version); };
  EXPECT_TRUE(retired(model) && retired(ensemble)) << "there was no request";
  const auto call = IntCall(1);
  ensemble->Submit(call);
  gate.AwaitWaiting(1);
  EXPECT_FALSE(retired(model));
  EXPECT_FALSE(retired(ensemble));
  gate.Open();
  call->Wait();
  EXPECT_TRUE(Eventually([&] { return retired(model) && retired(ensemble); }));
  const auto next = IntCall(2);
  ensemble->Submit(next);
  EXPECT_TRUE(next->Wait().status.ok()) << "the question changes nothing";
}

}  // namespace
}  // namespace tern::server
