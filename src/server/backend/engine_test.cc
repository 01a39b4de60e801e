#include "server/backend/engine.h"

#include "ir/tern_file.h"
#include "ir/text.h"
#include "ops/ops.h"
#include "server/backend/backends.h"
#include "server/backend/host.h"
#include "server/backend/test_support.h"
#include "server/backend/wire_strings.h"

namespace tern::server {
namespace {

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    std::string path = (std::filesystem::temp_directory_path() / "tern-engine-XXXXXX").string();
    folder_ = mkdtemp(path.data());
    config_.name = "m";
  }
  ~EngineTest() override { std::filesystem::remove_all(folder_); }

  Status Load(const std::string& graph_text) {
    InitOps();
    TERN_ASSIGN(const std::unique_ptr<Graph> graph, ParseGraph(graph_text));
    const std::string file = folder_ + "/model.tern";
    TERN_TRY(SaveTern(*graph, file));
    TERN_ASSIGN(backend_, backends_->Find("tern"));
    TERN_ASSIGN(model_, backend_->Load({folder_, file}, config_));
    return {};
  }

  Status LoadAll(const std::string& graph_text) {
    TERN_TRY(Load(graph_text));
    TERN_TRY(model_->Complete(config_));
    TERN_ASSIGN(instance_, model_->CreateInstance());
    return {};
  }

  Result<std::vector<WireTensor>> Run(std::vector<WireTensor> inputs, std::vector<std::string> outputs = {},
                                      int threads = 1) {
    Batch batch;
    batch.inputs = std::move(inputs);
    batch.outputs = std::move(outputs);
    batch.threads = threads;
    return instance_->Run(batch);
  }

  std::string folder_;
  ModelConfig config_;
  std::unique_ptr<BackendSource> backends_ = FindBackends("");
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<BackendModel> model_;
  std::unique_ptr<BackendInstance> instance_;
};

constexpr const char* kRelu = "graph @g(%x: f32[N,4]) -> (%y) { %y = Relu(%x) }";

TEST_F(EngineTest, CompletesTheConfigurationOfABatchedModel) {
  const Status status = LoadAll(kRelu);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(config_.max_batch_size, 4);
  EXPECT_TRUE(config_.batching);
  ASSERT_EQ(config_.inputs.size(), 1u);
  EXPECT_EQ(config_.inputs[0].dims, (Dims{4}));
  EXPECT_EQ(config_.outputs[0].dims, (Dims{4}));
  EXPECT_TRUE(model_->Parallel());
}

TEST_F(EngineTest, SeesWhichModelsHaveNoBatchDim) {
  for (const char* text :
       {"graph @g(%x: f32[2,4]) -> (%y) { %y = Relu(%x) }",
        "graph @g(%x: f32[N,4], %z: f32[3,4]) -> (%y, %w) { %y = Relu(%x)\n %w = Relu(%z) }",
        "graph @g(%x: f32[N,4], %z: f32[M,4]) -> (%y, %w) { %y = Relu(%x)\n %w = Relu(%z) }",
        "graph @g(%x: f32[N,4]) -> (%y) { %t = Transpose(%x) {perm=[1,0]}\n %y = MatMul(%x, %t) }"}) {
    config_ = ModelConfig();
    const Status status = LoadAll(text);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(config_.max_batch_size, 0) << text;
    EXPECT_FALSE(config_.batching);
    EXPECT_EQ(config_.inputs[0].dims.size(), 2u);
  }
}

TEST_F(EngineTest, DoesNotBatchRequestsWhoseItemsInfluenceEachOther) {
  for (const char* text :
       {"graph @g(%x: f32[N,4]) -> (%y) { %y = Softmax(%x) {axis=0} }",
        "graph @g(%x: f32[N,4]) -> (%y) { %t = Transpose(%x) {perm=[1,0]}\n %s = MatMul(%x, %t)\n "
        "%y = ArgReduce(%s) {axis=1, keep_dims=false} }",
        "graph @g(%x: f32[N,4], %z: f32[?,4]) -> (%y) { %s = MatMul(%x, %z) {transpose_b=true}\n "
        "%y = ArgReduce(%s) {axis=1, keep_dims=false} }",
        "graph @g(%h: f32[1,4], %x: f32[N,4]) -> (%next, %y) { state %h -> %next\n %next = Tanh(%h)\n "
        "%y = Softmax(%x + %h) {axis=0} }"}) {
    config_ = ModelConfig();
    const Status status = LoadAll(text);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(config_.max_batch_size, 4) << "a client may send a batch of its own";
    EXPECT_FALSE(config_.batching) << text;
  }
  config_ = ModelConfig();
  config_.max_batch_size = 8;
  config_.batching.emplace();
  ASSERT_TRUE(LoadAll("graph @g(%x: f32[N,4]) -> (%y) { %y = Softmax(%x) {axis=0} }").ok());
  EXPECT_TRUE(config_.batching) << "the configuration decides";
}

TEST_F(EngineTest, RefusesAConfigurationThatContradictsTheModel) {
  ASSERT_TRUE(Load(kRelu).ok());
  const auto error = [&](auto&& change) {
    ModelConfig config;
    config.inputs = {Tensor4("x", DType::kF32, {-1, 4})};
    config.outputs = {Tensor4("y", DType::kF32, {-1, 4})};
    change(config);
    return model_->Complete(config).message();
  };
  EXPECT_EQ(error([](ModelConfig&) {}), "");
  EXPECT_NE(error([](ModelConfig& c) { c.inputs[0].dtype = DType::kI32; }), "");
  EXPECT_EQ(error([](ModelConfig& c) {
              c.inputs[0] = c.outputs[0] = TensorConfig();
              c.inputs[0].name = "x";
              c.outputs[0].name = "y";
            }),
            "")
      << "types and dims are the model's";
  EXPECT_EQ(error([](ModelConfig& c) {
              c.inputs[0].dims = {-1, 5};
            }),
            "input 'x' has dims [-1,4] in the model, but [-1,5] in its configuration");
  EXPECT_EQ(error([](ModelConfig& c) { c.inputs[0].dims = {3, 4}; }), "") << "narrower than the model";
  EXPECT_EQ(error([](ModelConfig& c) {
              c.max_batch_size = 8;
              c.inputs[0].ragged = true;
              c.batch_outputs = {{{"y"}, {"x"}}};
            }),
            "")
      << "ragged tensors have no batch dim in the model";
  EXPECT_NE(error([](ModelConfig& c) { c.max_batch_size = 8; }), "") << "dims then exclude the batch dim";
  EXPECT_EQ(error([](ModelConfig& c) {
              c.max_batch_size = 8;
              c.inputs[0].dims = c.outputs[0].dims = {4};
            }),
            "");
  EXPECT_EQ(error([](ModelConfig& c) {
              c.inputs[0].dims = {-1, 2, 2};
              c.inputs[0].reshape = Dims{-1, 4};
            }),
            "");
  EXPECT_EQ(error([](ModelConfig& c) { c.inputs[0].name = "q"; }),
            "the model has the input 'x', its configuration does not");
  EXPECT_EQ(error([](ModelConfig& c) { c.outputs[0].name = "q"; }),
            "the configuration has the output 'q', the model does not");
  EXPECT_EQ(error([](ModelConfig& c) { c.inputs.push_back(Tensor4("q", DType::kF32, {1})); }),
            "the configuration has the input 'q', the model does not");
  EXPECT_TRUE(Load("graph @g(%x: f32[2,4]) -> (%y) { %y = Relu(%x) }").ok());
  EXPECT_NE(error([](ModelConfig& c) { c.max_batch_size = 8; }).find("set max_batch_size to 0"),
            std::string::npos);
}

TEST_F(EngineTest, StartsEachExecutionWithEmptyStates) {
  const Status status = LoadAll(R"(graph @g(%x: f32[2], %h: f32[2]) -> (%y, %next) {
    state %h -> %next
    %next = %h + %x
    %y = %next + %next
  })");
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (int run = 0; run < 3; ++run) {
    const auto outputs = Run({Wire<float>("x", DType::kF32, {2}, {1, 10})});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(ValuesOf<float>((*outputs)[0]), (std::vector<float>{2, 20})) << "execution " << run;
  }
}

TEST_F(EngineTest, ShowsScalarsAsOneElement) {
  ASSERT_TRUE(LoadAll("graph @g(%x: f32[]) -> (%y) { %y = Relu(%x) }").ok());
  EXPECT_EQ(config_.inputs[0].dims, (Dims{1}));
  ASSERT_TRUE(config_.inputs[0].reshape);
  EXPECT_TRUE(config_.inputs[0].reshape->empty());
}

TEST_F(EngineTest, KeepsOutputsWhileLaterBatchesRun) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  auto first = Run({Wire<float>("x", DType::kF32, {1, 4}, {-1, 2, -3, 4})});
  ASSERT_TRUE(first.ok()) << first.status().message();
  auto second = Run({Wire<float>("x", DType::kF32, {2, 4}, {1, 1, 1, 1, 5, 6, 7, -8})}, {"y"}, 8);
  auto third = Run({Wire<float>("x", DType::kF32, {1, 4}, {9, 9, 9, 9})}, {"other"}, 0);
  ASSERT_TRUE(second.ok() && third.ok());
  ASSERT_EQ(first->size(), 1u);
  EXPECT_EQ((*first)[0].name, "y");
  EXPECT_EQ((*first)[0].dims, (Dims{1, 4}));
  EXPECT_EQ(ValuesOf<float>((*first)[0]), (std::vector<float>{0, 2, 0, 4}));
  EXPECT_EQ(ValuesOf<float>((*second)[0]), (std::vector<float>{1, 1, 1, 1, 5, 6, 7, 0}));
  EXPECT_TRUE(third->empty()) << "nobody asked for y";
}

TEST_F(EngineTest, TakesInputsOfAnyAlignment) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  for (size_t shift = 0; shift < 5; ++shift) {
    const std::vector<float> values{-1, 2, -3, 4};
    const Buffer memory = Buffer::Allocate(32);
    std::memcpy(memory.data() + shift, values.data(), 16);
    auto outputs = Run({{"x", DType::kF32, {1, 4}, memory.Slice(shift, 16)}});
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ(ValuesOf<float>((*outputs)[0]), (std::vector<float>{0, 2, 0, 4}));
  }
}

TEST_F(EngineTest, RunsOutputsThatDependOnData) {
  ASSERT_TRUE(LoadAll("graph @g(%x: f32[N,4]) -> (%n, %x) { %n = NonZero(%x) }").ok());
  for (const auto& [values, count] :
       {std::pair<std::vector<float>, int64_t>{{1, 0, 0, 1}, 2}, {{0, 0, 0, 0}, 0}, {{1, 1, 1, 1}, 4}}) {
    auto outputs = Run({Wire<float>("x", DType::kF32, {1, 4}, values)});
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    ASSERT_EQ(outputs->size(), 2u);
    for (const WireTensor& output : *outputs) {
      if (output.name == "n") {
        EXPECT_EQ(output.dims, (Dims{2, count}));
      } else {
        EXPECT_EQ(ValuesOf<float>(output), values);
      }
    }
  }
}

TEST_F(EngineTest, RunsEmptyBatches) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  auto outputs = Run({Wire<float>("x", DType::kF32, {0, 4}, {})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ((*outputs)[0].dims, (Dims{0, 4}));
  EXPECT_EQ((*outputs)[0].bytes.size(), 0u);
}

TEST_F(EngineTest, RunsStrings) {
  ASSERT_TRUE(LoadAll("graph @g(%x: string[N]) -> (%y) { %y = Identity(%x) }").ok());
  const std::vector<std::string> texts{"", "abc", std::string("a\0b", 3), std::string(1000, 'x')};
  const WireTensor input = Texts("x", {4}, texts);
  auto outputs = Run({input});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(ValuesOf<char>((*outputs)[0]), ValuesOf<char>(input));
}

TEST_F(EngineTest, RefusesWrongInputs) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  EXPECT_EQ(Run({}).status().message(), "input 'x' is missing");
  EXPECT_FALSE(Run({Wire<float>("x", DType::kF32, {1, 5}, {1, 2, 3, 4, 5})}).ok());
  EXPECT_FALSE(Run({Wire<float>("x", DType::kF32, {1, 4}, {1, 2, 3})}).ok());
  EXPECT_FALSE(Run({Wire<int32_t>("x", DType::kI32, {1, 4}, {1, 2, 3, 4})}).ok());
  EXPECT_FALSE(Run({Wire<float>("x", DType::kF32, {int64_t{1} << 62, 4}, {1})}).ok());
  EXPECT_FALSE(Run({Wire<float>("x", DType::kF32, {-1, 4}, {})}).ok());
  EXPECT_TRUE(Run({Wire<float>("x", DType::kF32, {1, 4}, {1, 2, 3, 4})}).ok()) << "it stays usable";
}

TEST_F(EngineTest, StopsWhenNobodyWaits) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  const std::atomic<bool> cancel{true};
  Batch batch;
  batch.inputs = {Wire<float>("x", DType::kF32, {1, 4}, {1, 2, 3, 4})};
  batch.stop.cancel = &cancel;
  EXPECT_EQ(instance_->Run(batch).status().code(), Code::kCancelled);
}

TEST_F(EngineTest, InstancesRunAtTheSameTime) {
  ASSERT_TRUE(LoadAll(kRelu).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      auto instance = model_->CreateInstance();
      ASSERT_TRUE(instance.ok());
      for (int i = 1; i < 50; ++i) {
        Batch batch;
        batch.threads = i % 3;
        const int64_t rows = 1 + i % 5;
        batch.inputs = {Wire("x", DType::kF32, {rows, 4}, std::vector<float>(size_t(rows) * 4, float(t)))};
        auto outputs = (*instance)->Run(batch);
        ASSERT_TRUE(outputs.ok());
        EXPECT_EQ(ValuesOf<float>((*outputs)[0]), ValuesOf<float>(batch.inputs[0]));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(EngineTest, ReportsFailures) {
  auto engine = backends_->Find("onnxruntime");
  ASSERT_TRUE(engine.ok());
  EXPECT_FALSE((*engine)->Load({folder_, ""}, config_).ok());
  EXPECT_FALSE((*engine)->Load({folder_, folder_ + "/none.onnx"}, config_).ok());
  config_.parameters["tern_precision"] = "fp8";
  EXPECT_FALSE(Load(kRelu).ok());
}

TEST(Host, MessagesAreSingleLines) {
  testing::internal::CaptureStderr();
  Host().log(2, "model 'a\nerror: b\x1b[2J'");
  Host().log(0, nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "error: model 'a error: b [2J'\ninfo: \n");
}

TEST(WireStrings, RefusesWrongBytes) {
  const std::string one("\3\0\0\0abc", 7);
  EXPECT_TRUE(DecodeStrings("x", one.data(), 7, {1}).ok());
  EXPECT_TRUE(DecodeStrings("x", nullptr, 0, {0, 5}).ok());
  EXPECT_FALSE(DecodeStrings("x", one.data(), 6, {1}).ok()) << "too short";
  EXPECT_FALSE(DecodeStrings("x", one.data(), 7, {2}).ok()) << "too few";
  EXPECT_FALSE(DecodeStrings("x", one.data(), 7, {0}).ok()) << "too many";
  EXPECT_FALSE(DecodeStrings("x", "\xff\xff\xff\xff", 4, {1}).ok());
  EXPECT_FALSE(DecodeStrings("x", one.data(), 7, {int64_t{1} << 40, int64_t{1} << 40}).ok());
  EXPECT_FALSE(DecodeStrings("x", one.data(), 7, {-1}).ok());
}

}  // namespace
}  // namespace tern::server
