// Tests all rpcs except inference.
#include "health.pb.h"
#include "reflection.pb.h"
#include "server/core/test_support.h"
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

using inference::ModelStatisticsResponse;

class FakeControl : public RepositoryControl, public SharedMemoryControl, public SettingsControl {
 public:
  std::vector<IndexEntry> Index(bool ready_only) override {
    std::vector<IndexEntry> all = {{"echo", "1", ModelState::kReady, ""}};
    if (!ready_only) all.push_back({"other", "", ModelState::kUnavailable, "unloaded"});
    return all;
  }
  Status Load(const std::string& model, const LoadOptions& options) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loaded = model;
    load_options = options;
    if (model == "bad") return InvalidModel("cannot load");
    return {};
  }
  Status Unload(const std::string& model, bool dependents) override {
    unloaded = model + (dependents ? "+" : "");
    return {};
  }
  Status Register(const std::string& name, const std::string& key, uint64_t offset, uint64_t bytes) override {
    if (regions.count(name))
      return Status(Code::kAlreadyExists, "shared memory region '" + name + "' already in manager");
    regions[name] = {name, key, offset, bytes};
    return {};
  }
  Status Unregister(const std::string& name) override {
    if (name.empty()) regions.clear();
    regions.erase(name);
    return {};
  }
  Result<std::vector<SharedMemoryRegion>> List(const std::string& name) override {
    std::vector<SharedMemoryRegion> list;
    for (auto& [key, region] : regions)
      if (name.empty() || name == key) list.push_back(region);
    return list;
  }
  Result<std::shared_ptr<const SharedMemoryRange>> Find(const std::string& name, uint64_t offset,
                                                        uint64_t bytes) override {
    if (!regions.count(name)) return NotFound("Unable to find system shared memory region: '", name, "'");
    return std::shared_ptr<const SharedMemoryRange>(
        std::make_shared<BufferRange>(memory.Slice(offset, bytes)));
  }
  Result<Settings> Trace(const std::string& model) override {
    return Settings{{"trace_rate", {"1000"}}, {"model", {model}}};
  }
  Result<Settings> SetTrace(const std::string&, const Settings& changes) override {
    if (changes.count("trace_file")) return Unsupported("trace_file cannot be changed");
    return changes;
  }
  std::map<std::string, ParameterValue> Log() override { return log; }
  Status SetLog(const std::map<std::string, ParameterValue>& changes) override {
    for (const auto& [name, value] : changes) log[name] = value;
    return {};
  }

  std::string loaded, unloaded;
  LoadOptions load_options;
  std::map<std::string, SharedMemoryRegion> regions;
  Buffer memory = Buffer::Allocate(64);
  std::map<std::string, ParameterValue> log = {
      {"log_info", true}, {"log_verbose_level", int64_t{0}}, {"log_file", std::string()}};
};

class GrpcControlTest : public GrpcServerTest {
 protected:
  void SetUp() override {
    context.repository = &control;
    context.shared_memory = &control;
    context.settings = &control;
    GrpcServerTest::SetUp();
    client = std::make_unique<Http2Client>(server->port());
  }
  void TearDown() override {
    client.reset();
    GrpcServerTest::TearDown();
  }
  template <class Message>
  Message Ask(const std::string& method, const google::protobuf::MessageLite& request) {
    TestStream& stream = client->Call(method, request.SerializeAsString());
    EXPECT_EQ(stream.status(), 0) << stream.message();
    return stream.Parse<Message>();
  }
  int StatusOf(const std::string& method, const google::protobuf::MessageLite& request) {
    return client->Call(method, request.SerializeAsString()).status();
  }

  FakeControl control;
  std::unique_ptr<Http2Client> client;
};

TEST_F(GrpcControlTest, Server) {
  EXPECT_TRUE(Ask<inference::ServerLiveResponse>("ServerLive", inference::ServerLiveRequest()).live());
  EXPECT_TRUE(Ask<inference::ServerReadyResponse>("ServerReady", inference::ServerReadyRequest()).ready());
  context.ready = false;
  EXPECT_FALSE(Ask<inference::ServerReadyResponse>("ServerReady", inference::ServerReadyRequest()).ready());
  const auto metadata =
      Ask<inference::ServerMetadataResponse>("ServerMetadata", inference::ServerMetadataRequest());
  EXPECT_EQ(metadata.name(), "tern");
  EXPECT_EQ(metadata.version(), "1.2.3");
  EXPECT_EQ(metadata.extensions_size(), 13);
}

TEST_F(GrpcControlTest, Models) {
  inference::ModelReadyRequest ready;
  ready.set_name("echo");
  EXPECT_TRUE(Ask<inference::ModelReadyResponse>("ModelReady", ready).ready());
  ready.set_name("nobody");
  EXPECT_FALSE(Ask<inference::ModelReadyResponse>("ModelReady", ready).ready());
  inference::ModelMetadataRequest name;
  name.set_name("echo");
  const auto metadata = Ask<inference::ModelMetadataResponse>("ModelMetadata", name);
  EXPECT_EQ(metadata.name(), "echo");
  EXPECT_EQ(metadata.platform(), "echo");
  ASSERT_EQ(metadata.versions_size(), 1);
  ASSERT_EQ(metadata.inputs_size(), 1);
  EXPECT_EQ(metadata.inputs(0).datatype(), "FP32");
  ASSERT_EQ(metadata.inputs(0).shape_size(), 2);
  EXPECT_EQ(metadata.inputs(0).shape(0), -1);
  inference::ModelConfigRequest config;
  config.set_name("echo");
  EXPECT_EQ(Ask<inference::ModelConfigResponse>("ModelConfig", config).config(),
            models["echo"]->config().proto);
  config.set_version("9");
  EXPECT_NE(StatusOf("ModelConfig", config), 0);
  name.set_name("nobody");
  EXPECT_EQ(StatusOf("ModelMetadata", name), 5);
}

TEST_F(GrpcControlTest, Statistics) {
  CallTimes times;
  times.queued = times.started = times.input = times.compute = times.output = times.finished = Clock::now();
  models["echo"]->statistics().AddSuccess(times, times.queued, 1);
  inference::ModelStatisticsRequest request;
  EXPECT_EQ(Ask<ModelStatisticsResponse>("ModelStatistics", request).model_stats_size(), 5);
  request.set_name("echo");
  const auto one = Ask<ModelStatisticsResponse>("ModelStatistics", request);
  ASSERT_EQ(one.model_stats_size(), 1);
  EXPECT_EQ(one.model_stats(0).name(), "echo");
  EXPECT_EQ(one.model_stats(0).version(), "1");
  EXPECT_EQ(one.model_stats(0).inference_stats().success().count(), 1u);
  EXPECT_EQ(one.model_stats(0).memory_usage(0).byte_size(), 4096u);
  request.set_name("nobody");
  EXPECT_EQ(StatusOf("ModelStatistics", request), 5);
}

TEST_F(GrpcControlTest, Repository) {
  inference::RepositoryIndexRequest index;
  const auto all = Ask<inference::RepositoryIndexResponse>("RepositoryIndex", index);
  ASSERT_EQ(all.models_size(), 2);
  EXPECT_EQ(all.models(0).state(), "READY");
  EXPECT_EQ(all.models(1).reason(), "unloaded");
  index.set_ready(true);
  EXPECT_EQ(Ask<inference::RepositoryIndexResponse>("RepositoryIndex", index).models_size(), 1);
  inference::RepositoryModelLoadRequest load;
  EXPECT_EQ(StatusOf("RepositoryModelLoad", load), 3);
  load.set_model_name("m");
  (*load.mutable_parameters())["config"].set_string_param("{}");
  (*load.mutable_parameters())["file:1/model.onnx"].set_bytes_param("abc");
  EXPECT_TRUE(Ask<inference::RepositoryModelLoadResponse>("RepositoryModelLoad", load).is_loaded());
  EXPECT_EQ(control.loaded, "m");
  EXPECT_EQ(control.load_options.config, "{}");
  EXPECT_EQ(control.load_options.files["1/model.onnx"], "abc");
  (*load.mutable_parameters())["x"].set_string_param("{}");
  EXPECT_EQ(StatusOf("RepositoryModelLoad", load), 3);
  load.Clear();
  load.set_repository_name("kserve");  // KServe's clients send the model's name in this field
  EXPECT_EQ(Ask<inference::RepositoryModelLoadResponse>("RepositoryModelLoad", load).model_name(), "kserve");
  load.set_repository_name("bad");
  EXPECT_EQ(StatusOf("RepositoryModelLoad", load), 3);
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("m");
  (*unload.mutable_parameters())["unload_dependents"].set_bool_param(true);
  EXPECT_TRUE(Ask<inference::RepositoryModelUnloadResponse>("RepositoryModelUnload", unload).is_unloaded());
  EXPECT_EQ(control.unloaded, "m+");
}

TEST_F(GrpcControlTest, SlowLoadsDoNotStopInference) {
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("m");
  const int32_t id =
      client->Open("/inference.GRPCInferenceService/RepositoryModelLoad", Frame(load.SerializeAsString()));
  client->Finish(client->OpenInfer(InferRequest("echo")));
  EXPECT_FALSE(client->streams[id].closed);
  EXPECT_EQ(client->Finish(id).status(), 0);
}

TEST_F(GrpcControlTest, SharedMemory) {
  inference::SystemSharedMemoryRegisterRequest region;
  region.set_name("r");
  region.set_key("/k");
  region.set_byte_size(64);
  EXPECT_EQ(StatusOf("SystemSharedMemoryRegister", region), 0);
  EXPECT_EQ(StatusOf("SystemSharedMemoryRegister", region), 6);
  const auto status = Ask<inference::SystemSharedMemoryStatusResponse>(
      "SystemSharedMemoryStatus", inference::SystemSharedMemoryStatusRequest());
  EXPECT_EQ(status.regions().at("r").key(), "/k");
  auto request = InferRequest("echo");
  request.clear_raw_input_contents();
  auto& parameters = *request.mutable_inputs(0)->mutable_parameters();
  parameters["shared_memory_region"].set_string_param("r");
  parameters["shared_memory_byte_size"].set_int64_param(16);
  parameters["shared_memory_offset"].set_int64_param(8);
  auto& output = *request.add_outputs();
  output.set_name("OUTPUT0");
  (*output.mutable_parameters())["shared_memory_region"].set_string_param("r");
  (*output.mutable_parameters())["shared_memory_byte_size"].set_int64_param(16);
  for (int i = 0; i < 16; ++i) control.memory.data()[8 + i] = std::byte(i + 1);
  const auto& answer = client->Finish(client->OpenInfer(request));
  EXPECT_EQ(answer.status(), 0);
  EXPECT_EQ(answer.Parse<inference::ModelInferResponse>().raw_output_contents(0), "");
  EXPECT_EQ(static_cast<int>(models["echo"]->last.inputs[0].bytes.data()[15]), 16);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(static_cast<int>(control.memory.data()[i]), i + 1);
  auto small = request;
  (*small.mutable_outputs(0)->mutable_parameters())["shared_memory_byte_size"].set_int64_param(15);
  EXPECT_EQ(client->Finish(client->OpenInfer(small)).status(), 3);
  auto no_size = request;
  no_size.mutable_inputs(0)->mutable_parameters()->erase("shared_memory_byte_size");
  EXPECT_EQ(client->Finish(client->OpenInfer(no_size)).status(), 3);
  EXPECT_EQ(StatusOf("SystemSharedMemoryUnregister", inference::SystemSharedMemoryUnregisterRequest()), 0);
  EXPECT_EQ(client->Finish(client->OpenInfer(request)).status(), 5);
  context.shared_memory = nullptr;
  EXPECT_EQ(client->Finish(client->OpenInfer(request)).status(), 12);
  EXPECT_EQ(StatusOf("SystemSharedMemoryRegister", region), 12);
  EXPECT_EQ(StatusOf("CudaSharedMemoryRegister", inference::CudaSharedMemoryRegisterRequest()), 12);
  EXPECT_EQ(StatusOf("CudaSharedMemoryUnregister", inference::CudaSharedMemoryUnregisterRequest()), 0);
  EXPECT_EQ(StatusOf("CudaSharedMemoryStatus", inference::CudaSharedMemoryStatusRequest()), 0);
}

TEST_F(GrpcControlTest, SettingsOfTraceAndLog) {
  inference::TraceSettingRequest trace;
  trace.set_model_name("echo");
  EXPECT_EQ(Ask<inference::TraceSettingResponse>("TraceSetting", trace).settings().at("model").value(0),
            "echo");
  (*trace.mutable_settings())["trace_level"].add_value("TIMESTAMPS");
  EXPECT_EQ(Ask<inference::TraceSettingResponse>("TraceSetting", trace).settings().at("trace_level").value(0),
            "TIMESTAMPS");
  (*trace.mutable_settings())["trace_file"].add_value("x");
  EXPECT_EQ(StatusOf("TraceSetting", trace), 12);
  inference::LogSettingsRequest log;
  (*log.mutable_settings())["log_verbose_level"].set_uint32_param(2);
  const auto now = Ask<inference::LogSettingsResponse>("LogSettings", log);
  EXPECT_EQ(now.settings().at("log_verbose_level").uint32_param(), 2u);
  EXPECT_TRUE(now.settings().at("log_info").bool_param());
}

TEST_F(GrpcControlTest, Health) {
  using ::grpc::health::v1::HealthCheckResponse;
  const std::string check = "/grpc.health.v1.Health/Check";
  auto state = [&](TestStream& stream, size_t i) { return stream.Parse<HealthCheckResponse>(i).status(); };
  ::grpc::health::v1::HealthCheckRequest request;
  EXPECT_EQ(state(client->Finish(client->Open(check, Frame(""))), 0), HealthCheckResponse::SERVING);
  request.set_service("nothing");
  EXPECT_EQ(client->Finish(client->Open(check, Frame(request.SerializeAsString()))).status(), 5);
  const int32_t id = client->Open("/grpc.health.v1.Health/Watch", Frame(""));
  TestStream& watch = client->streams[id];
  ASSERT_TRUE(client->Until([&] { return watch.Messages().size() == 1; }));
  EXPECT_EQ(state(watch, 0), HealthCheckResponse::SERVING);
  context.ready = false;
  ASSERT_TRUE(client->Until([&] { return watch.Messages().size() == 2; }));
  EXPECT_EQ(state(watch, 1), HealthCheckResponse::NOT_SERVING);
  client->Reset(id);
  EXPECT_EQ(state(client->Finish(client->Open(check, Frame(""))), 0), HealthCheckResponse::NOT_SERVING);
}

TEST_F(GrpcControlTest, Reflection) {
  using ::grpc::reflection::v1::ServerReflectionRequest;
  using ::grpc::reflection::v1::ServerReflectionResponse;
  ServerReflectionRequest list, file, none, importing;
  list.set_list_services("*");
  file.set_file_containing_symbol("inference.GRPCInferenceService");
  none.set_file_by_filename("nothing.proto");
  importing.set_file_containing_symbol("tensorflow.serving.PredictionService");
  for (const std::string version : {"v1", "v1alpha"}) {
    TestStream& stream = client->Finish(
        client->Open("/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo",
                     Frame(list.SerializeAsString()) + Frame(file.SerializeAsString()) +
                         Frame(none.SerializeAsString()) + Frame(importing.SerializeAsString())));
    EXPECT_EQ(stream.status(), 0);
    EXPECT_EQ(stream.Parse<ServerReflectionResponse>(0).list_services_response().service_size(), 6);
    EXPECT_EQ(
        stream.Parse<ServerReflectionResponse>(1).file_descriptor_response().file_descriptor_proto_size(), 1);
    EXPECT_EQ(stream.Parse<ServerReflectionResponse>(2).error_response().error_code(), 5);
    EXPECT_EQ(
        stream.Parse<ServerReflectionResponse>(3).file_descriptor_response().file_descriptor_proto_size(), 4)
        << "the file and the three that it imports";
  }
}

}  // namespace
}  // namespace tern::server
