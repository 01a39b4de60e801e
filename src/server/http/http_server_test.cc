// Tests the front end through real sockets.
#include "server/http/http_server.h"

#include "server/core/compression.h"
#include "server/http/test_server.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

TEST_F(HttpTest, InfersFromJson) {
  Start();
  const TestReply reply = Infer(kSmall);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, kSmallReply);
  EXPECT_EQ(reply.Field("Content-Type"), "application/json");
  EXPECT_EQ(reply.Field("Inference-Header-Content-Length"), "");
}

TEST_F(HttpTest, InfersFromBinaryBothWays) {
  Start();
  const std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}},)"
      R"({"name":"IN1","shape":[1,2],"datatype":"INT32","data":[3,4]}],"parameters":{"binary_data_output":true,"x":5},)"
      R"("outputs":[{"name":"OUT0","parameters":{"binary_data":true}},{"name":"OUT1"}]})";
  const std::string bytes("\0\0\x80\x3f\0\0\0\xc0", 8);
  const TestReply reply = Infer(json + bytes, Header(json));
  const std::string expected =
      R"({"model_name":"echo","model_version":"1","parameters":{"x":5},"outputs":[{"name":"OUT0","datatype":"FP32",)"
      R"("shape":[1,2],"parameters":{"binary_data_size":8}},{"name":"OUT1","datatype":"INT32","shape":[1,2],"data":[3,4]}]})";
  EXPECT_EQ(reply.body, expected + bytes);
  EXPECT_EQ(reply.Field("Inference-Header-Content-Length"), std::to_string(expected.size()));
  EXPECT_EQ(reply.Field("Content-Type"), "application/octet-stream");
}

TEST_F(HttpTest, InfersFromRawBinary) {
  ModelConfig config = Config("raw");
  config.inputs.pop_back();
  Add(config, Mode::kInline);
  config = Config("text");
  config.inputs = {{"IN0", DType::kString, {1}, {}, false, false, {}}};
  Add(config, Mode::kInline);
  Start();
  const TestReply reply =
      Infer(std::string("\0\0\x80\x3f", 4), "inference-header-content-length: 0\r\n", "raw");
  EXPECT_NE(reply.body.find(R"("shape":[1,1],"parameters":{"binary_data_size":4}}]})"), reply.body.npos);
  EXPECT_EQ(reply.body.substr(reply.body.size() - 4), std::string("\0\0\x80\x3f", 4));
  const std::string text = Infer("abc", "Inference-Header-Content-Length: 0\r\n", "text").body;
  EXPECT_EQ(text.substr(text.size() - 7), std::string("\3\0\0\0abc", 7));
  // A raw request needs a model with one input, but this one has two.
  EXPECT_EQ(Infer("abcd", "Inference-Header-Content-Length: 0\r\n").status, 400);
}

TEST_F(HttpTest, LargeBinaryBodiesAreEchoed) {
  Start();
  const size_t count = 3'000'000;
  const std::string json = R"({"inputs":[{"name":"IN0","shape":[1,)" + std::to_string(count) +
                           R"(],"datatype":"FP32","parameters":{"binary_data_size":)" +
                           std::to_string(count * 4) + R"(}}],"parameters":{"binary_data_output":true}})";
  std::string bytes(count * 4, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + i / 251);
  TestClient client(server->port());
  std::thread sender([&] {
    for (int i = 0; i < 2; ++i) client.Send(Post("/v2/models/echo/infer", json + bytes, Header(json)));
  });
  std::string text;
  for (int i = 0; i < 2; ++i) {
    const TestReply reply = ReadReply(client, text);
    ASSERT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.body.substr(std::stoul(reply.Field("Inference-Header-Content-Length"))) == bytes);
  }
  sender.join();
}

TEST_F(HttpTest, KeepsAliveAndAnswersPipelinedRequestsInOrder) {
  Start();
  TestClient client(server->port());
  std::string requests;
  for (int i = 0; i < 200; ++i)
    requests += i % 3 ? Get("/v2/health/live") : Post("/v2/models/echo/infer", kSmall);
  client.Send(requests);
  std::string text;
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(ReadReply(client, text).body, i % 3 ? "{\"live\":true}" : kSmallReply) << i;
}

TEST_F(HttpTest, PipelinedRequestsThatWaitAreAnsweredInOrder) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient client(server->port());
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    std::string body = kSmall;
    body.replace(7, 1, std::to_string(i));
    requests += Post("/v2/models/hold/infer", body);
    if (i % 10 == 0) requests += Get("/v2/health/live");
  }
  client.Send(requests);
  std::string text;
  std::atomic<bool> done{false};
  std::thread releaser([&] {
    while (!done) {
      hold->Release();
      std::this_thread::sleep_for(1ms);
    }
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(ReadReply(client, text).body.rfind("{\"id\":\"" + std::to_string(i) + "\",", 0), 0u) << i;
    if (i % 10 != 0) continue;
    EXPECT_EQ(ReadReply(client, text).body, "{\"live\":true}");
  }
  done = true;
  releaser.join();
}

TEST_F(HttpTest, AnswersFromOtherThreads) {
  auto threaded = Add(Config("threaded"), Mode::kThread);
  Start();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Infer(kSmall, "", "threaded").status, 200);
}

TEST_F(HttpTest, RequestsSplitAtEveryByte) {
  Start();
  const std::string json = kSmall;
  std::string chunked =
      "POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  chunked += "10;ext=1\r\n" + json.substr(0, 16) + "\r\n1\r\n" + json.substr(16, 1) + "\r\n";
  char size[20];
  snprintf(size, sizeof size, "%zX\r\n", json.size() - 17);
  chunked += size + json.substr(17) + "\r\n0\r\nTrailer: 1\r\n\r\n";
  for (const std::string& request : {Post("/v2/models/echo/infer", json), chunked}) {
    TestClient client(server->port());
    std::string text;
    for (size_t cut = 1; cut < request.size(); ++cut) {
      client.Send(request.substr(0, cut));
      std::this_thread::sleep_for(100us);
      client.Send(request.substr(cut));
      ASSERT_EQ(ReadReply(client, text).body, kSmallReply) << cut;
    }
    for (const char c : request) client.Send(std::string(1, c));
    EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
  }
}

TEST_F(HttpTest, ManyTinyChunks) {
  Start();
  std::string json = R"({"inputs":[{"name":"IN0","shape":[1,30000],"datatype":"FP32","data":[1)";
  for (int i = 1; i < 30000; ++i) json += ",1";
  json += "]}]}";
  std::string request =
      "POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char c : json) request += std::string("1\r\n") + c + "\r\n";
  request += "0\r\n\r\n";
  const TestReply reply = Send(request);
  EXPECT_EQ(reply.status, 200);
  EXPECT_GT(reply.body.size(), 120'000u);
}

TEST_F(HttpTest, ExpectContinue) {
  Start();
  TestClient client(server->port());
  const std::string body = kSmall;
  client.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n");
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 100);
  client.Send(body);
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
  // The C++ client of Triton sends the field without a value.
  client.Send(Post("/v2/models/echo/infer", body, "Expect:\r\n"));
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
}

TEST_F(HttpTest, Http10AndConnectionClose) {
  Start();
  TestClient old(server->port());
  old.Send("GET /v2/health/live HTTP/1.0\r\n\r\n");
  const std::string all = old.ReadAll();
  EXPECT_NE(all.find("Connection: close\r\n"), all.npos);
  EXPECT_NE(all.find("{\"live\":true}"), all.npos);
  TestClient kept(server->port());
  std::string text;
  for (int i = 0; i < 2; ++i) {
    kept.Send("GET /v2/health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(ReadReply(kept, text).Field("Connection"), "keep-alive");
  }
  TestClient closing(server->port());
  closing.Send("GET /v2/health/live HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n");
  EXPECT_NE(closing.ReadAll().find("Connection: close\r\n"), std::string::npos);
}

TEST_F(HttpTest, CompressedRequestsAndResponses) {
  Start();
  std::string json = R"({"inputs":[{"name":"IN0","shape":[1,1000],"datatype":"FP32","data":[1)";
  for (int i = 1; i < 1000; ++i) json += ",1";
  json += "]}]}";
  const std::string plain = Infer(json).body;
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const std::string name = EncodingName(encoding);
    const TestReply reply =
        Infer(*Compress(encoding, {json}),
              "Content-Encoding: " + name + "\r\nAccept-Encoding: br;q=1.0, " + name + "\r\n");
    EXPECT_EQ(reply.Field("Content-Encoding"), name);
    const auto body = Decompress(reply.body, 1 << 20);
    ASSERT_TRUE(body.ok());
    EXPECT_TRUE(std::string(reinterpret_cast<const char*>(body->data()), body->size()) == plain);
  }
  EXPECT_EQ(Infer(json, "Accept-Encoding: gzip;q=0\r\n").Field("Content-Encoding"), "");
}

TEST_F(HttpTest, DecompressionBombIsRefused) {
  context.limits.body_bytes = 1 << 20;
  Start();
  const std::string bomb = *Compress(Encoding::kGzip, {std::string(50 << 20, ' ')});
  ASSERT_LT(bomb.size(), 1u << 20);
  EXPECT_EQ(Infer(bomb, "Content-Encoding: gzip\r\n").status, 413);
  EXPECT_EQ(Infer("not gzip", "Content-Encoding: gzip\r\n").status, 400);
  EXPECT_EQ(Infer(*Compress(Encoding::kGzip, {"{}"}) + "x", "Content-Encoding: gzip\r\n").status, 400);
  EXPECT_EQ(Infer("x", "Content-Encoding: br\r\n").status, 415);
}

TEST_F(HttpTest, LongBodiesAreRefused) {
  context.limits.body_bytes = 1000;
  Start();
  const TestReply reply = Infer(std::string(1001, ' '));
  EXPECT_EQ(reply.status, 413);
  EXPECT_NE(reply.body.find("request JSON size of 1001 bytes exceeds the maximum allowed input size"),
            reply.body.npos);
  EXPECT_EQ(
      Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
           std::string(1001, ' ') + "\r\n0\r\n\r\n")
          .status,
      413);
  EXPECT_EQ(Infer(std::string(1000 - sizeof kSmall + 1, ' ') + kSmall).status, 200);
}

TEST_F(HttpTest, QueuedBytesAreLimited) {
  auto hold = Add(Config("hold"), Mode::kHold);
  context.limits.queued_bytes = 150;
  Start();
  TestClient client(server->port());
  client.Send(Post("/v2/models/hold/infer", kSmall));
  ASSERT_TRUE(Eventually([&] { return hold->submitted == 1; }));
  const TestReply reply = Infer(kSmall);
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.Field("Retry-After"), "1");
  hold->Release();
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 200);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  EXPECT_EQ(Infer(kSmall).status, 200);
}

TEST_F(HttpTest, DisconnectCancels) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  for (int i = 0; i < 3; ++i) {
    TestClient client(server->port());
    client.Send(Post("/v2/models/hold/infer", kSmall, i == 1 ? "Connection: close\r\n" : "") +
                (i == 2 ? Post("/v2/models/hold/infer", kSmall) : ""));
    const int expected = i == 2 ? 4 : i + 1;
    ASSERT_TRUE(Eventually([&] { return hold->submitted == expected; }));
    client.Close();
    EXPECT_TRUE(Eventually([&] { return hold->cancelled == expected; })) << i;
  }
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  hold->Release();
}

TEST_F(HttpTest, DisconnectOfTlsAndOfHalfAConnection) {
  const TestCertificates files;
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  // A client that closes its sending direction after its requests still gets all answers.
  TestClient half(server->port());
  half.Send(Post("/v2/models/echo/infer", kSmall) + Get("/v2/health/live"));
  half.CloseWrite();
  const std::string all = half.ReadAll();
  EXPECT_NE(all.find(kSmallReply), all.npos);
  EXPECT_NE(all.find("{\"live\":true}"), all.npos);
  server.reset();
  options.listen.tls.certificate = files.Path("server.pem");
  options.listen.tls.key = files.Path("server.key");
  Start();
  TestClient client(server->port());
  {
    TestTls tls(client, files);
    tls.Send(Post("/v2/models/hold/infer", kSmall));
    ASSERT_TRUE(Eventually([&] { return hold->submitted == 1; }));
  }
  client.Close();
  EXPECT_TRUE(Eventually([&] { return hold->cancelled == 1; }));
  hold->Release();
}

TEST_F(HttpTest, EventStreamOfHttp10EndsWithTheConnection) {
  ModelConfig config = Config("llm");
  config.decoupled = true;
  Add(config, Mode::kRepeat);
  Start();
  TestClient client(server->port());
  client.Send("POST /v2/models/llm/generate_stream HTTP/1.0\r\nContent-Length: 11\r\n\r\n{\"IN0\":[1]}");
  const std::string all = client.ReadAll();
  EXPECT_EQ(all.find("chunked"), all.npos);
  const std::string event = "data: {\"model_name\":\"llm\",\"model_version\":\"1\",\"OUT0\":1.0}\n\n";
  EXPECT_EQ(all.substr(all.find("\r\n\r\n") + 4), event + event);
}

TEST_F(HttpTest, ErrorsOfModels) {
  Add(Config("fail"), Mode::kFail);
  Add(Config("refuse"), Mode::kRefuse);
  Start();
  const TestReply fail = Infer(kSmall, "", "fail");
  EXPECT_EQ(fail.status, 500);
  EXPECT_EQ(fail.body, R"({"error":"the model \"failed\""})");
  const TestReply refuse = Infer(kSmall, "", "refuse");
  EXPECT_EQ(refuse.status, 429);
  EXPECT_EQ(refuse.Field("Retry-After"), "2");
  ModelConfig config = Config("decoupled");
  config.decoupled = true;
  Add(config, Mode::kRepeat);
  EXPECT_EQ(Infer(kSmall, "", "decoupled").status, 501);
}

TEST_F(HttpTest, Generate) {
  ModelConfig config = Config("llm");
  config.inputs = {{"text", DType::kString, {1}, {}, false, false, {}},
                   {"IN1", DType::kI32, {-1}, {}, true, false, {}}};
  config.decoupled = true;
  Add(config, Mode::kRepeat);
  config.name = "one";
  Add(config, Mode::kInline);
  Start();
  const std::string body = R"({"id":"a","text":"hi\n","IN1":[1,2,3],"n":5,"parameters":{"t":0.5}})";
  EXPECT_EQ(
      Send(Post("/v2/models/one/generate", body)).body,
      R"({"id":"a","model_name":"one","model_version":"1","n":5,"t":0.5,"text":"hi\n","OUT1":[1,2,3]})");
  EXPECT_EQ(Send(Post("/v2/models/llm/generate", body)).status, 500);
  const TestReply stream = Send(Post("/v2/models/llm/generate_stream", body));
  EXPECT_EQ(stream.status, 200);
  EXPECT_EQ(stream.Field("Content-Type"), "text/event-stream; charset=utf-8");
  const std::string event =
      R"(data: {"id":"a","model_name":"llm","model_version":"1","n":5,"t":0.5,"text":"hi\n","OUT1":[1,2,3]})";
  char size[20];
  snprintf(size, sizeof size, "%zx\r\n", event.size() + 2);
  const std::string chunk = size + event + "\n\n\r\n";
  EXPECT_EQ(stream.body, chunk + chunk + "0\r\n\r\n");
  EXPECT_EQ(Send(Post("/v2/models/one/generate", R"({"text":["a","b"]})")).status, 200);
  EXPECT_EQ(Send(Post("/v2/models/one/generate", R"({"text":5})")).status, 400);
  EXPECT_EQ(Send(Post("/v2/models/one/generate", R"({"text":"x","o":{}})")).status, 400);
  EXPECT_EQ(Send(Post("/v2/models/one/generate", "")).status, 400);
}

TEST_F(HttpTest, IdleConnectionsAreClosed) {
  options.idle = std::chrono::seconds(1);
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient idle(server->port()), slow(server->port()), busy(server->port());
  slow.Send("GET /v2/health/live HT");
  busy.Send(Post("/v2/models/hold/infer", kSmall));
  EXPECT_EQ(idle.Read(), "");
  EXPECT_EQ(slow.Read(), "");
  std::this_thread::sleep_for(300ms);
  hold->Release();
  std::string text;
  EXPECT_EQ(ReadReply(busy, text).status, 200);
}

TEST_F(HttpTest, Tls) {
  const TestCertificates files;
  options.listen.tls.certificate = files.Path("server.pem");
  options.listen.tls.key = files.Path("server.key");
  Start();
  TestClient client(server->port());
  TestTls tls(client, files, false, "http/1.1");
  ASSERT_TRUE(tls.connected());
  std::string text;
  for (int i = 0; i < 3; ++i) {
    tls.Send(Post("/v2/models/echo/infer", kSmall));
    EXPECT_EQ(ReadReply(tls, text).body, kSmallReply);
  }
  std::string json =
      R"({"inputs":[{"name":"IN0","shape":[1,500000],"datatype":"FP32","parameters":{"binary_data_size":2000000}}],)"
      R"("parameters":{"binary_data_output":true}})";
  const std::string bytes(2'000'000, 'q');
  tls.Send(Post("/v2/models/echo/infer", json + bytes, Header(json)));
  const TestReply reply = ReadReply(tls, text);
  ASSERT_GT(reply.body.size(), bytes.size());
  EXPECT_TRUE(reply.body.substr(reply.body.size() - bytes.size()) == bytes);
}

TEST_F(HttpTest, UnixSocket) {
  const std::string path = testing::TempDir() + "tern_http_" + std::to_string(getpid()) + ".sock";
  options.listen.address = "unix:" + path;
  Start();
  TestClient client(path);
  client.Send(Post("/v2/models/echo/infer", kSmall));
  std::string text;
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
}

TEST_F(HttpTest, ManyConnectionsAtOnce) {
  Start();
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      TestClient client(server->port());
      std::string text;
      for (int i = 0; i < 300; ++i) {
        client.Send(Post("/v2/models/echo/infer", kSmall));
        good += ReadReply(client, text).body == kSmallReply;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 2400);
}

}  // namespace
}  // namespace tern::server
