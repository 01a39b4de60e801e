// Tests the repository with the real scheduler and the built-in engine.
#include "server/repository/serve_test_support.h"

namespace tern::server {
namespace {

TEST_F(ServeTest, AnswersWithTheLatestVersion) {
  WriteModel("m/1/model.tern", 2);
  WriteModel("m/2/model.tern", 3);
  folder_.Write("m/config.pbtxt",
                "version_policy { all {} } model_warmup { name: 'w' batch_size: 2 inputs { "
                "key: 'x' value { data_type: TYPE_FP32 dims: 4 random_data: true } } }");
  Start();
  EXPECT_EQ(Value("m"), 3);
  EXPECT_EQ(registry_.Versions("m").size(), 2u);
  const ModelConfig& config = (*registry_.Find("m"))->config();
  EXPECT_EQ(config.max_batch_size, 4) << "the first dim is a symbol";
  EXPECT_NE(config.json.find(R"("backend":"tern")"), std::string::npos) << config.json;
}

TEST_F(ServeTest, RunsEnsembles) {
  WriteModel("a/1/model.tern", 2);
  WriteModel("b/1/model.tern", 5);
  folder_.Write("e/config.pbtxt", R"(max_batch_size: 4
    input { name: "in" data_type: TYPE_FP32 dims: 4 } output { name: "out" data_type: TYPE_FP32 dims: 4 }
    ensemble_scheduling {
      step { model_name: "b" model_version: -1 input_map { key: "x" value: "t" } output_map { key: "y" value: "out" } }
      step { model_name: "a" model_version: -1 input_map { key: "x" value: "in" } output_map { key: "y" value: "t" } } })");
  Start();
  EXPECT_EQ(Value("e"), 10);
}

TEST_F(ServeTest, RunsPlugIns) {
  options_.backend_folder = TERN_TEST_BACKENDS;
  folder_.Write("repeat/config.pbtxt", "backend: 'repeat'");
  folder_.Write("repeat/1/empty", "");
  folder_.Write("identity/config.pbtxt", R"(backend: "identity" max_batch_size: 8 dynamic_batching {}
    input { name: "INPUT0" data_type: TYPE_FP32 dims: 4 } output { name: "OUTPUT0" data_type: TYPE_FP32 dims: 4 })");
  folder_.Write("identity/1/empty", "");
  Start();
  EXPECT_EQ(Value("identity"), 1);
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {2}, {4, 5}),
                          Wire<uint32_t>("DELAY", DType::kU32, {2}, {0, 1}),
                          Wire<uint32_t>("WAIT", DType::kU32, {1}, {0})};
  call->request.arrived = Clock::now();
  (*registry_.Find("repeat"))->Submit(call);
  const auto responses = call->Wait();
  ASSERT_GE(responses.size(), 2u);
  EXPECT_EQ(ValuesOf<int32_t>(responses[1].outputs[0]), (std::vector<int32_t>{5}));
  EXPECT_TRUE(responses.back().final);
}

// Requests run while the model is replaced repeatedly. Each request must get exactly one correct answer.
TEST_F(ServeTest, ReloadsBesideTraffic) {
  WriteModel("m/1/model.tern", 1);
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"m"};
  Start();
  std::atomic<bool> done{false};
  std::atomic<int> answers{0}, last{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 2; ++t)
    clients.emplace_back([&] {
      while (!done) {
        const auto responses = Infer("m");
        ASSERT_EQ(responses.size(), 1u);
        ASSERT_TRUE(responses[0].status.ok()) << responses[0].status.message();
        // A client thread that was preempted may store the answer of an earlier version late.
        const int value = static_cast<int>(ValuesOf<float>(responses[0].outputs[0])[0]);
        for (int before = last; before < value && !last.compare_exchange_weak(before, value);) continue;
        ++answers;
      }
    });
  for (int factor = 2; factor < 12; ++factor) {
    WriteModel("m/1/model.tern", factor);
    const Status status = repository_->Load("m", {});
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(Value("m"), static_cast<float>(factor));
  }
  for (int i = 0; i < 5000 && (answers <= 20 || last < 10); ++i) std::this_thread::sleep_for(milliseconds(1));
  done = true;
  for (std::thread& client : clients) client.join();
  EXPECT_GT(answers, 20);
  EXPECT_GE(last, 10);
}

// A caller that found a version before it was replaced can still submit requests to it at any time.
TEST_F(ServeTest, ReplacedVersionsAnswerCallersThatFoundThem) {
  WriteModel("m/1/model.tern", 1);
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"m"};
  Start();
  const auto found = registry_.Find("m");
  ASSERT_TRUE(found.ok());
  WriteModel("m/1/model.tern", 2);
  ASSERT_TRUE(repository_->Load("m", {}).ok());
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<float>("x", DType::kF32, {1, 4}, {1, 1, 1, 1})};
  (*found)->Submit(call);
  const auto responses = call->Wait();
  ASSERT_TRUE(responses[0].status.ok()) << responses[0].status.message();
  EXPECT_EQ(ValuesOf<float>(responses[0].outputs[0])[0], 1);
  EXPECT_EQ(Value("m"), 2);
}

}  // namespace
}  // namespace tern::server
