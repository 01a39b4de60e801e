// Tests the sample plug-ins of tests/server/backends through the adapter. The tests are skipped if the
// plug-ins were not built.
#include "server/backend/adapter.h"

#include <cstdlib>

#include "server/backend/backends.h"
#include "server/backend/test_support.h"

namespace tern::server {
namespace {

class PlugInTest : public testing::Test {
 protected:
  Status Load(const std::string& name) {
    config_.name = "m";
    TERN_ASSIGN(const std::shared_ptr<Backend> backend, backends_->Find(name));
    TERN_ASSIGN(model_, backend->Load({"/", ""}, config_));
    TERN_TRY(model_->Complete(config_));
    TERN_ASSIGN(instance_, model_->CreateInstance());
    return {};
  }

  Result<std::vector<WireTensor>> Run(std::vector<WireTensor> inputs) {
    Batch batch;
    batch.inputs = std::move(inputs);
    return instance_->Run(batch);
  }

  ModelConfig config_;
  std::unique_ptr<BackendSource> backends_ = FindBackends(TERN_TEST_BACKENDS);
  std::unique_ptr<BackendModel> model_;
  std::unique_ptr<BackendInstance> instance_;
};

TEST_F(PlugInTest, IdentityReturnsItsInputs) {
  config_.inputs = {Tensor4("INPUT0", DType::kI32, {-1}), Tensor4("INPUT1", DType::kString, {-1})};
  config_.outputs = {Tensor4("OUTPUT0", DType::kI32, {-1}), Tensor4("OUTPUT1", DType::kString, {-1})};
  const Status status = Load("identity");
  ASSERT_TRUE(status.ok()) << status.message();
  auto outputs =
      Run({Wire<int32_t>("INPUT0", DType::kI32, {3}, {1, 2, 3}), Texts("INPUT1", {2}, {"", "ab"})});
  ASSERT_TRUE(outputs.ok());
  ASSERT_EQ(outputs->size(), 2u);
  EXPECT_EQ((*outputs)[0].name, "OUTPUT0");
  EXPECT_EQ(ValuesOf<int32_t>((*outputs)[0]), (std::vector<int32_t>{1, 2, 3}));
  EXPECT_EQ((*outputs)[1].bytes.size(), 10u);
  outputs = Run({Wire<int32_t>("INPUT0", DType::kI32, {0}, {})});
  ASSERT_TRUE(outputs.ok());
  EXPECT_EQ(outputs->size(), 1u);
  EXPECT_EQ((*outputs)[0].bytes.size(), 0u);
}

TEST_F(PlugInTest, OutputsHaveTheTypeOfTheConfiguration) {
  config_.inputs = {Tensor4("I", DType::kF32, {-1})};
  config_.outputs = {Tensor4("O", DType::kI32, {-1})};
  ASSERT_TRUE(Load("identity").ok());
  Batch batch;
  batch.inputs = {Wire<float>("I", DType::kF32, {1}, {1})};
  batch.config = &config_;
  EXPECT_EQ(instance_->Run(batch).status().message(),
            "configuration expects datatype TYPE_INT32 for output 'O', model provides TYPE_FP32");
}

TEST_F(PlugInTest, IdentityWaits) {
  config_.inputs = {Tensor4("I", DType::kI8, {-1})};
  config_.outputs = {Tensor4("O", DType::kI8, {-1})};
  config_.parameters["execute_delay_ms"] = "30";
  ASSERT_TRUE(Load("identity").ok());
  const auto begin = Clock::now();
  ASSERT_TRUE(Run({Wire<int8_t>("I", DType::kI8, {1}, {1})}).ok());
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(30));
}

TEST_F(PlugInTest, DelayEndsWhenNobodyWaits) {
  config_.parameters["delay_ms"] = "60000";
  ASSERT_TRUE(Load("delay").ok());
  EXPECT_EQ(config_.inputs[0].name, "INPUT0") << "the plug-in describes itself";
  const std::atomic<bool> cancel{true};
  Batch batch;
  batch.inputs = {Wire<float>("INPUT0", DType::kF32, {1}, {1})};
  batch.stop.cancel = &cancel;
  const auto result = instance_->Run(batch);
  EXPECT_EQ(result.status().code(), Code::kCancelled);
  EXPECT_EQ(result.status().message(), "the delay was cancelled");
}

TEST_F(PlugInTest, FailuresReachTheCaller) {
  for (const auto& [where, code] : {std::pair("load", Code::kInvalidModel),
                                    {"describe", Code::kUnsupported},
                                    {"instance", Code::kResourceExhausted}}) {
    config_ = ModelConfig();
    config_.parameters["fail"] = where;
    const Status status = Load("fail");
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(status.message(), StrCat(where, " fails as the configuration says"));
  }
  for (const auto& [where, message] :
       {std::pair("run", "run fails as the configuration says"),
        {"output", "the back end gave a wrong output: 'Y' is f32[1], but has 12 bytes"},
        {"none", ""}}) {
    config_ = ModelConfig();
    config_.parameters["fail"] = where;
    ASSERT_TRUE(Load("fail").ok());
    EXPECT_EQ(Run({Wire<float>("X", DType::kF32, {1}, {1})}).status().message(), message);
  }
}

TEST_F(PlugInTest, RepeatSendsManyResponses) {
  ASSERT_TRUE(Load("repeat").ok());
  EXPECT_TRUE(config_.decoupled);
  EXPECT_EQ(config_.inputs.size(), 3u);
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {3}, {4, 5, 6}),
                          Wire<uint32_t>("DELAY", DType::kU32, {3}, {0, 1, 2}),
                          Wire<uint32_t>("WAIT", DType::kU32, {1}, {0})};
  call->request.outputs = {{.name = "OUT"}};
  instance_->RunCall(call);
  const auto responses = call->Wait();
  ASSERT_EQ(responses.size(), 4u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(responses[i].final);
    ASSERT_EQ(responses[i].outputs.size(), 1u) << "IDX was not asked for";
    EXPECT_EQ(ValuesOf<int32_t>(responses[i].outputs[0]), (std::vector<int32_t>{int32_t(4 + i)}));
  }
  EXPECT_TRUE(responses[3].final && responses[3].outputs.empty());
  const auto wrong = std::make_shared<TestCall>();
  instance_->RunCall(wrong);
  EXPECT_EQ(wrong->Wait()[0].status.message(), "IN and DELAY must have the same size");
  EXPECT_FALSE(Run({}).ok()) << "it has no batches";
}

TEST_F(PlugInTest, RowsAskForAnotherIteration) {
  config_.max_batch_size = 4;
  config_.parameters["delay_ms"] = "0";
  ASSERT_TRUE(Load("iterative_sequence").ok());
  EXPECT_FALSE(model_->RunsCalls()) << "it has no run_request";
  Request first, second;
  first.sequence.id = "a";
  second.sequence.id = "b";
  const std::vector<const Request*> requests = {&first, nullptr, &second};
  const std::vector<int64_t> items = {1, 1, 1};
  for (const auto& [left, again] :
       {std::pair<std::vector<int32_t>, std::vector<uint64_t>>{{2, 0, 1}, {0, 2}}, {{1, 0, 0}, {0}}}) {
    Batch batch;
    batch.inputs = {Wire<int32_t>("INPUT", DType::kI32, {3, 1}, {3, 1, 2})};
    batch.requests = &requests;
    batch.items = &items;
    const auto outputs = instance_->Run(batch);
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ(ValuesOf<int32_t>(outputs->at(0)), left);
    std::vector<uint64_t> rows;
    for (const AgainRow& row : batch.again) {
      rows.push_back(row.row);
      EXPECT_TRUE(row.respond);
    }
    EXPECT_EQ(rows, again);
  }
}

TEST_F(PlugInTest, RowsHaveTheParametersOfTheirRequests) {
  config_.inputs = {Tensor4("EXPECTED", DType::kString, {1})};
  config_.outputs = {Tensor4("SAME", DType::kBool, {1})};
  ASSERT_TRUE(Load("parameters").ok());
  Request request;
  request.parameters = {{"text", std::string("x")}, {"flag", true}, {"number", int64_t{7}}};
  const std::vector<const Request*> requests = {&request};
  const std::vector<int64_t> items = {1};
  for (const auto& [json, same] : {std::pair(R"({"text": "x", "flag": "true", "number": "7"})", 1),
                                   {"{}", 1},
                                   {R"({"text": "y"})", 0},
                                   {R"({"none": ""})", 0}}) {
    Batch batch;
    batch.inputs = {Texts("EXPECTED", {1}, {json})};
    batch.requests = &requests;
    batch.items = &items;
    const auto outputs = instance_->Run(batch);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(ValuesOf<uint8_t>(outputs->at(0)).at(0), same) << json;
  }
  EXPECT_EQ(ValuesOf<uint8_t>(Run({Texts("EXPECTED", {1}, {R"({"text": "x"})"})})->at(0)).at(0), 0)
      << "the requests are not known";
}

TEST_F(PlugInTest, StatesMustBeInTheConfiguration) {
  config_.inputs = {Tensor4("INPUT", DType::kI32, {1}), Tensor4("TEST_CASE", DType::kI32, {1})};
  config_.outputs = {Tensor4("OUTPUT", DType::kI32, {1})};
  ASSERT_TRUE(Load("implicit_state").ok());
  const auto run = [&](int32_t test_case, int32_t state) {
    Batch batch;
    batch.inputs = {Wire<int32_t>("INPUT", DType::kI32, {1}, {4}),
                    Wire<int32_t>("TEST_CASE", DType::kI32, {1}, {test_case}),
                    Wire<int32_t>("INPUT_STATE", DType::kI32, {1}, {state})};
    batch.config = &config_;
    return instance_->Run(batch);
  };
  EXPECT_EQ(run(0, 0).status().message(),
            "unable to add state 'undefined_state'. State configuration is missing for model 'm'.");
  config_.sequence.emplace();
  config_.sequence->states = {{"INPUT_STATE", "OUTPUT_STATE", DType::kI32, {1}}};
  EXPECT_EQ(run(0, 0).status().message(), "state 'undefined_state' is not a valid state name.");
  const auto kept = run(1, 5), added = run(2, 5);
  ASSERT_TRUE(kept.ok() && added.ok());
  ASSERT_EQ(kept->size(), 1u) << "no new value";
  EXPECT_EQ(ValuesOf<int32_t>(kept->at(0)), std::vector<int32_t>{9});
  ASSERT_EQ(added->size(), 2u);
  EXPECT_EQ(added->at(1).name, "OUTPUT_STATE");
  EXPECT_EQ(ValuesOf<int32_t>(added->at(1)), std::vector<int32_t>{9});
}

TEST_F(PlugInTest, QuerySaysWhereOutputsAre) {
  config_.inputs = {Tensor4("INPUT", DType::kU8, {1})};
  config_.outputs = {Tensor4("OUTPUT0", DType::kU8, {-1}), Tensor4("OUTPUT1", DType::kU8, {-1})};
  ASSERT_TRUE(Load("query").ok());
  EXPECT_EQ(Run({Wire<uint8_t>("INPUT", DType::kU8, {1}, {1})}).status().message(),
            "OUTPUT0 CPU 0 OUTPUT1 CPU 0");
}

TEST_F(PlugInTest, RepeatEndsWhenTheCallIsCancelled) {
  ASSERT_TRUE(Load("repeat").ok());
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {1}, {4}),
                          Wire<uint32_t>("DELAY", DType::kU32, {1}, {60'000})};
  instance_->RunCall(call);
  call->Cancel();
  EXPECT_TRUE(call->Wait().back().final);
  instance_.reset();  // waits until its requests are finished
}

TEST_F(PlugInTest, SequenceAddsUp) {
  config_.sequence.emplace();
  for (const char* name : {"START", "END", "READY", "CORRID"}) {
    ControlInput control;
    control.name = name;
    config_.sequence->controls.push_back(control);
  }
  const Status status = Load("sequence");
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(config_.inputs.size(), 1u) << "clients do not see the controls";
  const auto step = [&](int32_t value, int32_t start, int32_t end, uint64_t id) {
    auto outputs = Run(
        {Wire<int32_t>("INPUT", DType::kI32, {1}, {value}), Wire<int32_t>("START", DType::kI32, {1}, {start}),
         Wire<int32_t>("END", DType::kI32, {1}, {end}), Wire<int32_t>("READY", DType::kI32, {1}, {1}),
         Wire<uint64_t>("CORRID", DType::kU64, {1}, {id})});
    return outputs.ok() ? ValuesOf<int32_t>((*outputs)[0])[0] : -1;
  };
  EXPECT_EQ(step(1, 1, 0, 7), 1);
  EXPECT_EQ(step(10, 1, 0, 8), 10);
  EXPECT_EQ(step(2, 0, 0, 7), 3);
  EXPECT_EQ(step(3, 0, 1, 7), 6);
  EXPECT_EQ(step(1, 0, 0, 8), 11);
  EXPECT_EQ(step(5, 1, 0, 7), 5);
}

// Runs only if TERN_ONNXRUNTIME names a library such as …/onnxruntime/capi/libonnxruntime.so.… of PyPI's
// wheel.
TEST_F(PlugInTest, RunsOnnxRuntime) {
  const char* library = std::getenv("TERN_ONNXRUNTIME");
  if (!library) GTEST_SKIP() << "TERN_ONNXRUNTIME is not set";
  const std::string file =
      std::filesystem::path(library).parent_path().parent_path() / "datasets" / "mul_1.onnx";
  auto backend = backends_->Find("ort");
  ASSERT_TRUE(backend.ok()) << backend.status().message();
  EXPECT_FALSE((*backend)->Load({"/", "/does/not/exist"}, config_).ok());
  auto model = (*backend)->Load({"/", file}, config_);
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_TRUE((*model)->Complete(config_).ok());
  EXPECT_EQ(config_.inputs[0].dims, (Dims{3, 2}));
  auto instance = (*model)->CreateInstance();
  ASSERT_TRUE(instance.ok());
  instance_ = std::move(*instance);
  EXPECT_FALSE(Run({Wire<float>("X", DType::kF32, {2, 2}, {1, 2, 3, 4})}).ok());
  auto outputs = Run({Wire<float>("X", DType::kF32, {3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(ValuesOf<float>((*outputs)[0]), (std::vector<float>{1, 4, 9, 16, 25, 36}));
}

TEST(Backends, RefuseWhatIsNoPlugIn) {
  const auto backends = FindBackends("/does/not/exist");
  EXPECT_EQ(backends->Find("none").status().code(), Code::kNotFound);
  for (const char* name : {"../x", "a/b", "a.b", "a b"})
    EXPECT_EQ(backends->Find(name).status().code(), Code::kInvalidArgument) << name;
  EXPECT_TRUE(backends->Find("").ok());
}

TEST(Backends, RefuseOtherVersions) {
  TernBackend api{};
  EXPECT_FALSE(LoadedBackend::Initialise(nullptr).ok());
  api.version = TERN_BACKEND_VERSION + 1;
  api.size = sizeof api;
  EXPECT_EQ(LoadedBackend::Initialise(&api).status().message(),
            "the back end has version 3 of the interface, this server has 1 to 2");
  api.version = 0;
  EXPECT_FALSE(LoadedBackend::Initialise(&api).ok());
  api.version = 1;
  EXPECT_EQ(LoadedBackend::Initialise(&api).status().message(),
            "the back end lacks a function that is not optional");
  api.version = TERN_BACKEND_VERSION;
  EXPECT_EQ(LoadedBackend::Initialise(&api).status().message(),
            "the back end lacks a function that is not optional");
  api.size = 8;
  EXPECT_FALSE(LoadedBackend::Initialise(&api).ok());
}

// An engine whose outputs are in its own memory. It counts the calls of release and finalise.
int released = 0, finalised = 0;
float memory[4] = {1, 2, 3, 4};

TEST(Adapter, ReturnsMemoryThatWasGiven) {
  TernBackend api{};
  api.version = TERN_BACKEND_VERSION;
  api.size = sizeof api;
  api.finalise = [](void*) { ++finalised; };
  api.load = [](void*, const TernModelInfo*, TernError*) -> void* { return &released; };
  api.unload = [](void*) {};
  api.create_instance = [](void* model, TernError*) { return model; };
  api.destroy_instance = [](void*) {};
  api.metrics = [](void*, TernMetrics* to) { Host().metric(to, "heat", 1.5); };
  api.run = [](void*, const TernBatch*, TernOutputs* outputs, TernError*) -> int32_t {
    const int64_t dims[] = {2, 2};
    const TernTensor tensor{"y", TERN_TYPE_FP32, 2, dims, memory, 16};
    Host().give(outputs, &tensor, memory, [](void*) { ++released; });
    return TERN_OK;
  };
  released = finalised = 0;
  auto loaded = LoadedBackend::Initialise(&api);
  ASSERT_TRUE(loaded.ok());
  std::vector<WireTensor> outputs;
  {
    auto backend = AdaptBackend(std::move(*loaded));
    auto model = backend->Load({}, {});
    ASSERT_TRUE(model.ok());
    EXPECT_EQ((*model)->Metrics()[0].second, 1.5);
    auto instance = (*model)->CreateInstance();
    Batch batch;
    outputs = *(*instance)->Run(batch);
    (void)(*instance)->Run(batch).ok();
  }
  EXPECT_EQ(outputs[0].bytes.data(), reinterpret_cast<std::byte*>(memory)) << "no copy";
  EXPECT_EQ(released, 1) << "the second result is destroyed";
  EXPECT_EQ(finalised, 0) << "a buffer still belongs to the engine";
  outputs.clear();
  EXPECT_EQ(released, 2);
  EXPECT_EQ(finalised, 1);
}

std::string ended;  // the id of the last sequence

// A plug-in that was compiled before end_sequence existed passes a shorter struct.
TEST(Adapter, TellsTheEndOfSequences) {
  ended.clear();
  TernBackend api{};
  api.version = TERN_BACKEND_VERSION;
  api.load = [](void*, const TernModelInfo*, TernError*) -> void* { return &ended; };
  api.unload = [](void*) {};
  api.create_instance = [](void* model, TernError*) { return model; };
  api.destroy_instance = [](void*) {};
  api.run = [](void*, const TernBatch*, TernOutputs*, TernError*) -> int32_t { return TERN_OK; };
  api.end_sequence = [](void* instance, const char* id) { *static_cast<std::string*>(instance) = id; };
  for (const bool early : {true, false}) {
    api.size = early ? offsetof(TernBackend, end_sequence) : sizeof api;
    auto loaded = LoadedBackend::Initialise(&api);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    auto model = AdaptBackend(std::move(*loaded))->Load({}, {});
    ASSERT_TRUE(model.ok());
    EXPECT_EQ((*model)->KeepsSequences(), !early);
    auto instance = (*model)->CreateInstance();
    ASSERT_TRUE(instance.ok());
    (*instance)->EndSequence("7");
    EXPECT_EQ(ended, early ? "" : "7");
  }
}

}  // namespace
}  // namespace tern::server
