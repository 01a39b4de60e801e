// Tests the work that leaves the event loop: for worker threads, and for threads that wait for a repository.
#include <latch>

#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

using inference::ModelStreamInferResponse;

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Submit does what the test tells it to.
class FunctionModel : public ModelVersion {
 public:
  FunctionModel(const std::string& name, bool decoupled, std::function<void(std::shared_ptr<Call>)> submit)
      : ModelVersion(Config(name, decoupled), "1"), submit_(std::move(submit)) {}
  void Submit(std::shared_ptr<Call> call) override { submit_(std::move(call)); }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }

 private:
  static ModelConfig Config(const std::string& name, bool decoupled) {
    ModelConfig config = EchoModel::MakeConfig(name, EchoModel::Mode::kInline);
    config.decoupled = decoupled;
    return config;
  }
  const std::function<void(std::shared_ptr<Call>)> submit_;
};

// A worker thread parses and submits this request.
inference::ModelInferRequest LongRequest(const std::string& model) {
  constexpr int kElements = 100'000;
  inference::ModelInferRequest request = InferRequest(model, kElements);
  request.clear_raw_input_contents();
  for (int i = 0; i < kElements; ++i) request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  return request;
}

class GrpcWorkerTest : public GrpcServerTest {
 protected:
  void Add(const std::string& name, bool decoupled, std::function<void(std::shared_ptr<Call>)> submit) {
    registry.Publish(name, {std::make_shared<FunctionModel>(name, decoupled, std::move(submit))});
  }
};

class GrpcBlockedTest : public GrpcWorkerTest {
 protected:
  // Occupies both worker threads until Unblock.
  void Block(Http2Client& client) {
    Add("block", false, [this](const std::shared_ptr<Call>& call) {
      ++waiting;
      open.wait();
      call->Respond({});
    });
    for (int i = 0; i < 2; ++i) {
      blockers.push_back(client.OpenInfer(LongRequest("block")));
      const TestStream& stream = client.streams[blockers.back()];
      client.Until([&] { return stream.sent == stream.to_send.size(); });
    }
    ASSERT_TRUE(Eventually([&] { return waiting == 2; }));
  }
  void Unblock(Http2Client& client) {
    open.count_down();
    for (const int32_t id : blockers) EXPECT_EQ(client.Finish(id).status(), 0);
  }
  std::latch open{1};
  std::atomic<int> waiting{0};
  std::vector<int32_t> blockers;
};

TEST_F(GrpcBlockedTest, SmallCompressedMessagesStayOnTheLoop) {
  Http2Client client(server->port());
  Block(client);
  const auto send = [&](size_t n) {
    return client.Open("/inference.GRPCInferenceService/ModelInfer",
                       Zipped(InferRequest("echo", n).SerializeAsString()), true,
                       {{"grpc-encoding", "gzip"}});
  };
  EXPECT_EQ(client.Finish(send(1000)).status(), 0);
  // Messages that become long wait for a worker thread, however short they are.
  auto request = InferRequest("echo", 100'000);
  request.set_raw_input_contents(0, std::string(400'000, '\0'));
  const std::string bomb = Zipped(request.SerializeAsString());
  EXPECT_LT(bomb.size(), 2000u);
  const int32_t id =
      client.Open("/inference.GRPCInferenceService/ModelInfer", bomb, true, {{"grpc-encoding", "gzip"}});
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  EXPECT_FALSE(client.streams[id].closed);
  Unblock(client);
  EXPECT_EQ(client.Finish(id).status(), 0);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

// Neither the loop nor the thread of the model compresses a long response.
TEST_F(GrpcBlockedTest, LongResponsesAreCompressedByWorkerThreads) {
  GrpcOptions options;
  options.response_compression = 1;
  StartServer(options);
  Http2Client client(server->port());
  Block(client);
  const Headers gzip = {{"grpc-accept-encoding", "gzip"}};
  const int32_t once = client.OpenInfer(InferRequest("echo", 50'000), gzip);
  const std::string messages = Frame(InferRequest("repeat", 50'000).SerializeAsString()) +
                               Frame(InferRequest("echo").SerializeAsString()) +
                               Frame(InferRequest("echo", 50'000, 7).SerializeAsString());
  const int32_t many = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages, true, gzip);
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  EXPECT_FALSE(client.streams[once].closed);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes >= 200'000u; })) << "responses that wait count";
  Unblock(client);
  const TestStream& single = client.Finish(once);
  EXPECT_EQ(single.status(), 0);
  EXPECT_EQ(single.headers.at("grpc-encoding"), "gzip");
  EXPECT_LT(single.body.size(), 200'000u);
  EXPECT_EQ(single.body[0], 1);
  const TestStream& stream = client.Finish(many);
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    const std::string message = stream.Messages()[i];
    Buffer bytes = Buffer::Allocate(message.size());
    memcpy(bytes.data(), message.data(), message.size());
    const auto plain = i == 3 ? Result<Buffer>(bytes) : Decompress(bytes, Compression::kGzip, 1 << 22);
    ASSERT_TRUE(plain.ok()) << i;
    ModelStreamInferResponse response;
    ASSERT_TRUE(response.ParseFromArray(plain->data(), static_cast<int>(plain->size())));
    EXPECT_EQ(response.infer_response().model_name(), i < 3 ? "repeat" : "echo") << i;
    if (i < 3) {
      EXPECT_EQ(response.infer_response().parameters().at("index").int64_param(), static_cast<int64_t>(i));
    }
  }
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  const std::lock_guard lock(mutex);
  for (const Recorded& record : records)
    if (record.target.ends_with("/ModelInfer") && record.model == "echo") {
      EXPECT_EQ(record.sent, single.body.size());
    }
}

// The responses of another stream wait for a worker thread: the client has nothing to read.
TEST_F(GrpcBlockedTest, ResponsesThatWaitToBeCompressedEndNoOtherStream) {
  GrpcOptions options;
  options.response_compression = 1;
  StartServer(options);
  Http2Client client(server->port());
  std::mutex drip_mutex;
  std::shared_ptr<Call> drip;
  Add("drip", true, [&](std::shared_ptr<Call> call) {
    const std::lock_guard lock(drip_mutex);
    drip = std::move(call);
  });
  const auto held = [&] {
    const std::lock_guard lock(drip_mutex);
    return drip;
  };
  const std::string path = "/inference.GRPCInferenceService/ModelStreamInfer";
  const int32_t id = client.Open(path, Frame(InferRequest("drip").SerializeAsString()));
  ASSERT_TRUE(Eventually([&] { return held() != nullptr; }));
  Block(client);
  auto large = InferRequest("repeat", 6 * kMiB);
  large.set_raw_input_contents(0, std::string(24 * kMiB, '\0'));
  const int32_t other =
      client.Open(path, Frame(large.SerializeAsString()), true, {{"grpc-accept-encoding", "gzip"}});
  client.Until([&] { return client.streams[other].sent == client.streams[other].to_send.size(); });
  ASSERT_TRUE(Eventually([&] { return context.queued_bytes > 64 * kMiB; }));
  for (int i = 0; i < 3; ++i) {
    Response response = EchoModel::Echo(*held());
    response.final = i == 2;
    held()->Respond(std::move(response));
  }
  EXPECT_EQ(client.Finish(id).status(), 0) << client.streams[id].message();
  EXPECT_EQ(client.streams[id].Messages().size(), 3u);
  client.Reset(other);
  Unblock(client);
  drip = nullptr;
}

// A repository whose index and loads wait until the test opens them.
struct SlowRepository : RepositoryControl {
  std::latch open{1};
  std::atomic<int> indexes{0}, loads{0};
  bool slow_index = false;
  std::vector<IndexEntry> Index(bool) override {
    ++indexes;
    if (slow_index) open.wait();
    return {{"echo", "1", ModelState::kReady, ""}};
  }
  Status Load(const std::string&, const LoadOptions&) override {
    ++loads;
    open.wait();
    return {};
  }
  Status Unload(const std::string&, bool) override { return {}; }
};

TEST_F(GrpcWorkerTest, SlowLoadsDoNotHoldUpTheIndex) {
  SlowRepository slow;
  context.repository = &slow;
  Http2Client client(server->port());
  std::vector<int32_t> loads;
  for (int i = 0; i < 6; ++i) {
    inference::RepositoryModelLoadRequest load;
    load.set_model_name("m" + std::to_string(i));
    loads.push_back(
        client.Open("/inference.GRPCInferenceService/RepositoryModelLoad", Frame(load.SerializeAsString())));
  }
  EXPECT_TRUE(Eventually([&] { return slow.loads == 4; }));
  EXPECT_EQ(client.Call("RepositoryIndex", "").status(), 0);
  slow.open.count_down();
  for (const int32_t id : loads) EXPECT_EQ(client.Finish(id).status(), 0);
}

// A slow file system does not hold up the worker threads, which compress and parse.
TEST_F(GrpcWorkerTest, ASlowIndexDoesNotHoldUpInferences) {
  GrpcOptions options;
  options.response_compression = 1;
  StartServer(options);
  SlowRepository slow;
  slow.slow_index = true;
  context.repository = &slow;
  Http2Client client(server->port());
  std::vector<int32_t> indexes;
  for (int i = 0; i < 4; ++i)
    indexes.push_back(client.Open("/inference.GRPCInferenceService/RepositoryIndex", Frame("")));
  EXPECT_TRUE(Eventually([&] { return slow.indexes == 2; }));
  const TestStream& stream =
      client.Finish(client.OpenInfer(LongRequest("echo"), {{"grpc-accept-encoding", "gzip"}}));
  EXPECT_EQ(stream.status(), 0);
  EXPECT_EQ(stream.headers.at("grpc-encoding"), "gzip");
  slow.open.count_down();
  for (const int32_t id : indexes) EXPECT_EQ(client.Finish(id).status(), 0);
}

TEST_F(GrpcWorkerTest, AnExceptionOfSubmitIsAnswered) {
  Add("throw", false, [](const std::shared_ptr<Call>&) { throw std::bad_alloc(); });
  Http2Client client(server->port());
  EXPECT_EQ(client.Finish(client.OpenInfer(LongRequest("throw"))).status(), 8);
  const std::string messages =
      Frame(LongRequest("throw").SerializeAsString()) + Frame(InferRequest("echo").SerializeAsString());
  const TestStream& stream =
      client.Finish(client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages));
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 2u);
  EXPECT_NE(stream.Parse<ModelStreamInferResponse>(0).error_message(), "");
  EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(1).error_message(), "");
}

}  // namespace
}  // namespace tern::server
