#include "server/pipeline/pipeline_call.h"

#include "ir/text.h"
#include "ops/ops.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

// A pipeline of texts whose model returns them, with one worker thread.
struct Texts {
  std::unique_ptr<Scheduler> scheduler = Scheduler::Create(SchedulerOptions{1, microseconds(100)});
  std::shared_ptr<WorkerThreads> workers = std::make_shared<WorkerThreads>(1);
  std::shared_ptr<PipelineModel> model;
  Gate gate;

  Texts() {
    InitOps();
    auto graph = ParseGraph("graph @g(%x: string[N]) -> (%y) { %y = Identity(%x) }");
    EXPECT_TRUE(graph.ok()) << graph.status().ToString();
    const auto spec = pipeline::ParseSpec("inputs: {text: [text]}\noutputs: {y: []}\n", "p.yaml");
    EXPECT_TRUE(spec.ok()) << spec.status().ToString();
    auto steps = pipeline::Steps::Create(*spec, **graph);
    EXPECT_TRUE(steps.ok()) << steps.status().ToString();
    ModelConfig config = IntModel();
    config.inputs[0].dtype = config.outputs[0].dtype = DType::kString;
    auto added = scheduler->Add(config, "1", std::make_unique<FakeModel>(Identity));
    EXPECT_TRUE(added.ok()) << added.status().ToString();
    PipelineParts parts{.steps = *steps, .tensors = nullptr, .prepared = *added, .workers = workers};
    ModelConfig client = ClientConfig(parts);
    model = PipelineModel::Create(std::move(client), "1", std::move(parts));
  }
  ~Texts() {
    gate.Open();
    workers->Stop();  // as the Loader does; a worker must not destroy its own thread
  }

  void BlockWorker() {
    ASSERT_TRUE(workers->Post([this] { gate.Pass(); }));
    gate.AwaitWaiting(1);
  }
  std::shared_ptr<TestCall> Submit() {
    auto call = std::make_shared<TestCall>();
    call->request.inputs.push_back(Strings("text", {2}, {"a", "bc"}));
    call->request.arrived = Clock::now();
    model->Submit(call);
    return call;
  }
};

TEST(PipelineCall, Answers) {
  Texts texts;
  const Response response = texts.Submit()->Wait();
  ASSERT_TRUE(response.status.ok()) << response.status.ToString();
  EXPECT_EQ(response.outputs.at(0).bytes.size(), 2 * sizeof(uint32_t) + 3);
  EXPECT_TRUE(Eventually([&] { return texts.model->Drained(); }));
}

// A queue of cancelled requests must not hold the pictures that their clients sent.
TEST(PipelineCall, ACancelledRequestIsFreedBeforeAWorkerTakesIt) {
  Texts texts;
  texts.BlockWorker();
  auto call = texts.Submit();
  EXPECT_EQ(call->count(), 0u);
  call->Cancel();
  EXPECT_EQ(call->Wait().status.code(), Code::kCancelled);
  const std::weak_ptr<TestCall> freed = call;
  call.reset();
  EXPECT_TRUE(freed.expired());
  EXPECT_TRUE(texts.model->Drained());
}

TEST(PipelineCall, RequestsInTheQueueOfStoppedWorkersFail) {
  Texts texts;
  texts.BlockWorker();
  const auto call = texts.Submit();
  std::thread stop([&] { texts.workers->Stop(); });
  EXPECT_TRUE(Eventually([&] { return !texts.workers->Post([] {}); }));
  texts.gate.Open();
  stop.join();
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  EXPECT_TRUE(texts.model->Drained());
}

TEST(PipelineCall, DrainAnswersRequestsThatAreStillQueued) {
  Texts texts;
  texts.BlockWorker();
  const auto call = texts.Submit();
  texts.model->Drain(milliseconds(1), true);
  EXPECT_EQ(call->Wait().status.code(), Code::kUnavailable);
  EXPECT_EQ(texts.Submit()->Wait().status.code(), Code::kUnavailable);
}

}  // namespace
}  // namespace tern::server
