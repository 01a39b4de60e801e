// Tests work that leaves the event loop: long JSON, compressed bodies, requests that wait for the repository.
#include <latch>

#include "server/core/compression.h"
#include "server/http/test_server.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// A request with `count` numbers in JSON, of which the first is `first`.
std::string LongJson(size_t count, int first) {
  std::string json = R"({"inputs":[{"name":"IN0","shape":[1,)" + std::to_string(count) +
                     R"(],"datatype":"FP32","data":[)" + std::to_string(first) + ".0";
  for (size_t i = 1; i < count; ++i) json += ",1.0";
  return json + "]}]}";
}

// The data of the response to LongJson.
std::string DataOf(const std::string& json) {
  const size_t at = json.find("\"data\":[");
  return at == json.npos ? json : json.substr(at);
}

class HttpLongWorkTest : public HttpTest {
 protected:
  HttpLongWorkTest() { loops = std::move(*Loops::Start(1)); }
};

TEST_F(HttpLongWorkTest, LongJsonAndCompressedBodiesLeaveTheLoop) {
  Start();
  ASSERT_EQ(Infer(kSmall).status, 200);
  const std::thread::id loop = echo->submit_thread;
  ASSERT_EQ(Infer(kSmall).status, 200);
  EXPECT_EQ(echo->submit_thread, loop);
  ASSERT_EQ(Infer(LongJson(200'000, 5)).status, 200);
  EXPECT_NE(echo->submit_thread, loop);
  ASSERT_EQ(Infer(kSmall).status, 200);
  ASSERT_EQ(Infer(*Compress(Encoding::kGzip, {kSmall}), "Content-Encoding: gzip\r\n").status, 200);
  EXPECT_NE(echo->submit_thread, loop);
  // Long binary tensors need no parsing.
  const std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,200000],"datatype":"FP32","parameters":{"binary_data_size":800000}}]})";
  ASSERT_EQ(Infer(json + std::string(800'000, '\0'), Header(json)).status, 200);
  EXPECT_EQ(echo->submit_thread, loop);
}

// Only infer requests have binary data behind their JSON.
TEST_F(HttpLongWorkTest, AHeaderDoesNotMakeOtherJsonShort) {
  Start();
  ASSERT_EQ(Infer(kSmall).status, 200);
  const std::thread::id loop = echo->submit_thread;
  std::string json = R"({"inputs":{"IN0":[[0)";
  for (size_t i = 0; i < 200'000; ++i) json += ",1.0";
  const std::string body = json + "]]}}";
  const TestReply reply =
      Send(Post("/v1/models/echo:predict", body, "Inference-Header-Content-Length: 0\r\n"));
  ASSERT_EQ(reply.status, 200) << reply.body.substr(0, 200);
  EXPECT_NE(echo->submit_thread, loop);
}

TEST_F(HttpLongWorkTest, PipelinedAnswersKeepTheirOrder) {
  Start();
  TestClient client(server->port());
  std::string requests;
  for (int i = 0; i < 6; ++i) {
    requests += Post("/v2/models/echo/infer", LongJson(100'000, i));
    requests += Get("/v2/health/live");
    requests += Post("/v2/models/echo/infer", *Compress(Encoding::kGzip, {LongJson(1000, i + 100)}),
                     "Content-Encoding: gzip\r\n");
    requests += Post("/v2/repository/index", "");
    requests += Post("/v2/models/echo/infer", kSmall);
  }
  std::thread sender([&] { client.Send(requests); });
  std::string text;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(DataOf(ReadReply(client, text).body), DataOf(LongJson(100'000, i))) << i;
    EXPECT_EQ(ReadReply(client, text).body, "{\"live\":true}") << i;
    EXPECT_EQ(DataOf(ReadReply(client, text).body), DataOf(LongJson(1000, i + 100))) << i;
    EXPECT_EQ(ReadReply(client, text).body.substr(0, 2), "[{") << i;
    EXPECT_EQ(ReadReply(client, text).body, kSmallReply) << i;
  }
  sender.join();
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(HttpLongWorkTest, ErrorsOfLongRequestsReachTheClient) {
  context.limits.body_bytes = 4 << 20;
  Start();
  EXPECT_EQ(Infer(LongJson(200'000, 1) + "x").status, 400);
  EXPECT_EQ(Infer(*Compress(Encoding::kGzip, {"{"}), "Content-Encoding: gzip\r\n").status, 400);
  EXPECT_EQ(
      Send(Post("/v2/models/none/infer", *Compress(Encoding::kGzip, {kSmall}), "Content-Encoding: gzip\r\n"))
          .status,
      404);
  EXPECT_EQ(Send(Post("/v2/logging", "no gzip", "Content-Encoding: gzip\r\n")).status, 400);
  EXPECT_EQ(
      Send(Post("/v2/logging", *Compress(Encoding::kGzip, {"{}"}), "Content-Encoding: gzip\r\n")).status,
      200);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(HttpLongWorkTest, LongAnswersAreConvertedAndCompressed) {
  Start();
  const std::string values(400'000, '\0');
  const std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,100000],"datatype":"FP32","parameters":{"binary_data_size":400000}}]})";
  std::string expected = "\"data\":[0.0";
  for (int i = 1; i < 100'000; ++i) expected += ",0.0";
  expected += "]}]}";
  EXPECT_EQ(DataOf(Infer(json + values, Header(json)).body), expected);
  const TestReply reply = Infer(json + values, Header(json) + "Accept-Encoding: gzip\r\n");
  EXPECT_EQ(reply.Field("Content-Encoding"), "gzip");
  const auto plain = Decompress(reply.body, 1 << 22);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(DataOf({reinterpret_cast<const char*>(plain->data()), plain->size()}), expected);
}

TEST_F(HttpLongWorkTest, AClientMayLeaveWhileItsRequestIsParsed) {
  Start();
  for (int i = 0; i < 20; ++i) {
    TestClient client(server->port());
    client.Send(Post("/v2/models/echo/infer", LongJson(100'000, i)));
  }
  EXPECT_EQ(Infer(kSmall).status, 200);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0 && server->connections() == 0; }));
}

TEST_F(HttpLongWorkTest, DrainSaysWhetherRequestsAreLeft) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient idle(server->port());
  EXPECT_TRUE(server->Drain(50ms)) << "a connection without a request";
  server.reset();
  Start();
  TestClient client(server->port());
  client.Send(Post("/v2/models/hold/infer", kSmall));
  ASSERT_TRUE(Eventually([&] { return hold->submitted == 1; }));
  EXPECT_FALSE(server->Drain(50ms));
  hold->Release();
  EXPECT_TRUE(server->Drain(2s));
}

// Submit waits until the test opens it: that occupies a worker thread.
struct BlockedVersion : EchoVersion {
  explicit BlockedVersion(ModelConfig config) : EchoVersion(std::move(config), "1", Mode::kInline) {}
  std::latch open{1};
  void Submit(std::shared_ptr<Call> call) override {
    ++submitted;
    open.wait();
    call->Respond({});
  }
};

TEST_F(HttpLongWorkTest, LongResponsesCountWhileTheyWait) {
  const auto blocked = std::make_shared<BlockedVersion>(Config("block"));
  registry.Publish("block", {blocked});
  Start();
  TestClient first(server->port()), second(server->port()), client(server->port());
  first.Send(Post("/v2/models/block/infer", LongJson(100'000, 1)));
  second.Send(Post("/v2/models/block/infer", LongJson(100'000, 1)));
  ASSERT_TRUE(Eventually([&] { return blocked->submitted == 2; }));
  const std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,100000],"datatype":"FP32","parameters":{"binary_data_size":400000}}]})";
  client.Send(Post("/v2/models/echo/infer", json + std::string(400'000, '\0'), Header(json)));
  ASSERT_TRUE(Eventually([&] { return echo->submitted == 1; }));
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);  // the loop has finished its work for the request
  EXPECT_GE(context.queued_bytes, 400'000u);
  blocked->open.count_down();
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 200);
  for (TestClient* other : {&first, &second}) {
    std::string rest;
    EXPECT_EQ(ReadReply(*other, rest).status, 200);
  }
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

// Responses that wait for an earlier one of their connection count, too.
TEST_F(HttpLongWorkTest, PipelinedResponsesCountWhileTheyWait) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient client(server->port());
  client.Send(Post("/v2/models/hold/infer", kSmall));
  const std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,100000],"datatype":"FP32","parameters":{"binary_data_size":400000}}],)"
      R"("parameters":{"binary_data_output":true}})";
  client.Send(Post("/v2/models/echo/infer", json + std::string(400'000, '\0'), Header(json)));
  ASSERT_TRUE(Eventually([&] { return echo->submitted == 1; }));
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);
  EXPECT_GE(context.queued_bytes, 400'000u);
  hold->Release();
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 200);
  EXPECT_EQ(ReadReply(client, text).status, 200);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

// A repository whose loads wait until the test opens them.
struct SlowRepository : FakeRepository {
  std::latch open{1};
  std::atomic<int> waiting{0}, indexes{0};
  bool slow_index = false;
  std::vector<IndexEntry> Index(bool) override {
    ++indexes;
    if (slow_index) open.wait();
    return {};
  }
  Status Load(const std::string&, const LoadOptions&) override {
    ++waiting;
    open.wait();
    return {};
  }
};

TEST_F(HttpLongWorkTest, SlowLoadsDoNotHoldUpTheIndex) {
  SlowRepository slow;
  context.repository = &slow;
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<TestClient>(server->port()));
    clients.back()->Send(Post("/v2/repository/models/m" + std::to_string(i) + "/load", ""));
  }
  EXPECT_TRUE(Eventually([&] { return slow.waiting == 4; }));
  EXPECT_EQ(Send(Post("/v2/repository/index", "")).status, 200);
  EXPECT_EQ(Infer(*Compress(Encoding::kGzip, {kSmall}), "Content-Encoding: gzip\r\n").status, 200);
  slow.open.count_down();
  for (auto& client : clients) {
    std::string text;
    EXPECT_EQ(ReadReply(*client, text).status, 200);
  }
}

// A slow file system does not hold up the worker threads, which compress and parse.
TEST_F(HttpLongWorkTest, ASlowIndexDoesNotHoldUpInferences) {
  SlowRepository slow;
  slow.slow_index = true;
  context.repository = &slow;
  Start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<TestClient>(server->port()));
    clients.back()->Send(Post("/v2/repository/index", ""));
  }
  EXPECT_TRUE(Eventually([&] { return slow.indexes == 2; }));
  EXPECT_EQ(Infer(*Compress(Encoding::kGzip, {kSmall}), "Content-Encoding: gzip\r\n").status, 200);
  EXPECT_EQ(Infer(LongJson(100'000, 1)).status, 200);
  slow.open.count_down();
  for (auto& client : clients) {
    std::string text;
    EXPECT_EQ(ReadReply(*client, text).status, 200);
  }
}

}  // namespace
}  // namespace tern::server
