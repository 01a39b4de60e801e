// Clients that are slow, greedy or gone.
#include "server/http/output.h"
#include "server/http/test_server.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

// Runs until the test answers, also when it is cancelled.
class Stubborn : public ModelVersion {
 public:
  explicit Stubborn(ModelConfig config) : ModelVersion(std::move(config), "1") {}
  void Submit(std::shared_ptr<Call> call) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
  }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return calls_.size();
  }
  std::vector<std::shared_ptr<Call>> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Call>> calls_;
};

// Answers on the loop's thread, after a while.
class Slow : public ModelVersion {
 public:
  explicit Slow(ModelConfig config) : ModelVersion(std::move(config), "1") {}
  void Submit(std::shared_ptr<Call> call) override {
    std::this_thread::sleep_for(1ms);
    ++answered;
    call->Respond({});
  }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }
  std::atomic<int> answered{0};
};

TEST_F(HttpTest, ModelsMayAnswerWhenTheServerAndItsLoopsAreGone) {
  const auto model = std::make_shared<Stubborn>(Config("stubborn"));
  registry.Publish("stubborn", {model});
  Start();
  TestClient client(server->port());
  client.Send(Post("/v2/models/stubborn/infer", kSmall));
  ASSERT_TRUE(Eventually([&] { return model->count() == 1; }));
  server.reset();
  loops.reset();
  for (const auto& call : model->Take()) call->Respond({});
  EXPECT_EQ(context.queued_bytes, 0u);
}

// Refuses every request before it is decoded.
class Overloaded : public ModelVersion {
 public:
  explicit Overloaded(ModelConfig config) : ModelVersion(std::move(config), "1") {}
  bool RefuseIfOverloaded(Call& call) override {
    Response response;
    response.status = ResourceExhausted("too much load");
    response.retry_after = 1500ms;
    call.Respond(std::move(response));
    return true;
  }
  void Submit(std::shared_ptr<Call>) override { ADD_FAILURE() << "the request was decoded"; }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }
};

TEST_F(HttpTest, AnOverloadedModelRefusesBeforeTheRequestIsDecoded) {
  registry.Publish("overloaded", {std::make_shared<Overloaded>(Config("overloaded"))});
  Start();
  TestClient client(server->port());
  for (int i = 0; i < 2; ++i) {
    client.Send(Post("/v2/models/overloaded/infer", "{ not JSON"));
    const std::string answer = client.Read();
    EXPECT_NE(answer.find("429"), std::string::npos) << answer;
    EXPECT_NE(answer.find("etry-"), std::string::npos) << answer;
  }
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST_F(HttpTest, AnOverloadedModelReadsTheBodyOfARefusedRequest) {
  registry.Publish("overloaded", {std::make_shared<Overloaded>(Config("overloaded"))});
  Start();
  TestClient client(server->port());
  const std::string request = Post("/v2/models/overloaded/infer", std::string(3'000'000, 'x'));
  for (int i = 0; i < 3; ++i) {
    client.Send(request.substr(0, 50'000));
    pollfd p{client.fd(), POLLIN, 0};
    EXPECT_EQ(poll(&p, 1, 50), 0) << "no answer before the body has arrived";
    EXPECT_EQ(context.queued_bytes, 0u) << "the body is not kept";
    client.Send(request.substr(50'000));
    const std::string answer = client.Read();
    EXPECT_NE(answer.find("429"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("Connection: close"), std::string::npos) << answer;
  }
}

// Sends the bytes again and again until the server answers.
std::string Trickle(TestClient& client, const std::string& bytes) {
  for (int i = 0; i < 100; ++i) {
    client.Send(bytes);
    pollfd p{client.fd(), POLLIN, 0};
    if (poll(&p, 1, 50) > 0) return client.Read();
  }
  return "nothing";
}

TEST_F(HttpTest, BodiesThatTrickleEnd) {
  options.idle = 1s;
  Start();
  TestClient whole(server->port());
  whole.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  EXPECT_EQ(Trickle(whole, "x").substr(9, 3), "408");
  EXPECT_EQ(whole.Read(), "");
  TestClient chunked(server->port());
  chunked.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(Trickle(chunked, "1\r\nx\r\n").substr(9, 3), "408");
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST_F(HttpTest, AClientThatSendsButDoesNotReadIsClosed) {
  options.idle = 1s;
  Start();
  TestClient client(server->port());
  const int small = 4096;
  setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  constexpr size_t kBytes = 7 << 20;
  const std::string json = StrCat(R"({"inputs":[{"name":"IN0","shape":[1,)", kBytes / 4,
                                  R"(],"datatype":"FP32","parameters":{"binary_data_size":)", kBytes,
                                  R"(}}],)", R"("parameters":{"binary_data_output":true}})");
  client.Send(Post("/v2/models/echo/infer", json + std::string(kBytes, '\0'), Header(json)));
  ASSERT_TRUE(Eventually([&] { return echo->submitted == 1; }));
  for (int i = 0; i < 150 && server->connections() > 0; ++i) {
    client.Send("G");
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(HttpTest, LongBodiesGetMoreTime) {
  options.idle = 1s;
  Start();
  TestClient client(server->port());
  const std::string body = std::string(50'000, ' ') + kSmall;
  const std::string request = Post("/v2/models/echo/infer", body);
  const size_t step = request.size() / 15 + 1;
  for (size_t at = 0; at < request.size(); at += step) {
    client.Send(request.substr(at, step));
    std::this_thread::sleep_for(100ms);
  }
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 200);
}

TEST_F(HttpTest, PipelinedRequestsDoNotStarveOthers) {
  const auto slow = std::make_shared<Slow>(Config("slow"));
  registry.Publish("slow", {slow});
  loops = std::move(*Loops::Start(1));
  Start();
  TestClient greedy(server->port()), other(server->port());
  constexpr int kCount = 300;
  std::string requests;
  for (int i = 0; i < kCount; ++i) requests += Post("/v2/models/slow/infer", kSmall);
  greedy.Send(requests);
  greedy.CloseWrite();  // the requests that wait are still answered
  ASSERT_TRUE(Eventually([&] { return slow->answered > 0; }));
  other.Send(Get("/v2/health/live"));
  std::string text;
  EXPECT_EQ(ReadReply(other, text).status, 200);
  EXPECT_LT(slow->answered, kCount);
  const std::string all = greedy.ReadAll();
  size_t answers = 0;
  for (size_t at = 0; (at = all.find("HTTP/1.1 200", at)) != all.npos; ++at) ++answers;
  EXPECT_EQ(answers, size_t{kCount});
}

TEST_F(HttpTest, BodiesCountWhileTheyArrive) {
  context.limits.queued_bytes = 100'000;
  Start();
  const std::string head = "POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n";
  TestClient first(server->port()), announced(server->port());
  announced.Send(head + "Content-Length: 99000\r\n\r\n");
  first.Send(head + "Content-Length: 99000\r\n\r\n" + std::string(60'000, ' '));
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 60'000; }));
  for (const bool chunked : {false, true}) {
    TestClient second(server->port());
    const std::string body(60'000, ' ');
    second.Send(head +
                (chunked ? "Transfer-Encoding: chunked\r\n\r\nEA60\r\n" : "Content-Length: 70000\r\n\r\n") +
                body);
    std::string text;
    const TestReply reply = ReadReply(second, text);
    EXPECT_EQ(reply.status, 429);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_EQ(context.queued_bytes, 60'000u);
  }
  first.Close();
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(HttpTest, TensorsMadeFromJsonCount) {
  ModelConfig config = Config("hold");
  const auto hold = Add(config, Mode::kHold);
  Start();
  TestClient client(server->port());
  std::string data = "0";
  for (int i = 1; i < 1000; ++i) data += ",0";
  const std::string body =
      R"({"inputs":[{"name":"IN0","shape":[1,1000],"datatype":"FP32","data":[)" + data + "]}]}";
  client.Send(Post("/v2/models/hold/infer", body));
  ASSERT_TRUE(Eventually([&] { return hold->submitted == 1; }));
  EXPECT_EQ(context.queued_bytes, body.size() + 4000);
  hold->Release();
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(HttpTest, ErrorsRepeatOnlyTheStartOfWhatTheClientSent) {
  Start();
  const std::string name(1'000'000, '\xff');
  const std::string input = R"("shape":[1,1],"datatype":"FP32","data":[1]})";
  const TestReply reply =
      Infer(R"({"inputs":[{"name":")" + name + "\"," + input + R"(,{"name":")" + name + "\"," + input + "]}");
  EXPECT_EQ(reply.status, 400);
  EXPECT_LT(reply.body.size(), 30'000u);
}

// Takes a few bytes of each write.
class NarrowStream : public Stream {
 public:
  int fd() const override { return -1; }
  Outcome Read(void*, size_t, size_t&) override { return Outcome::kWouldBlock; }
  Outcome Write(const iovec* parts, int count, size_t& written) override {
    written = 0;
    for (int i = 0; i < count && room > 0; ++i) {
      const size_t bytes = std::min(room, parts[i].iov_len);
      text.append(static_cast<const char*>(parts[i].iov_base), bytes);
      written += bytes;
      room -= bytes;
    }
    return written ? Outcome::kDone : Outcome::kWouldBlock;
  }
  void ShutdownWrite() override {}
  std::string Peer() const override { return ""; }
  std::string Protocol() const override { return ""; }
  size_t room = 0;
  std::string text;
};

TEST(HttpOutput, KeepsNoMemoryOfWhatIsWritten) {
  for (const size_t size : {size_t{1000}, size_t{5000}, size_t{100'000}}) {
    Output output;
    NarrowStream stream;
    std::string expected;
    // The client is always behind by one piece: the output never gets empty.
    for (int i = 0; i < 500; ++i) {
      const std::string piece(size, static_cast<char>('a' + i % 26));
      expected += piece;
      output.Add(piece);
      stream.room = i ? size : size / 2;
      size_t written = 0;
      output.Flush(stream, written);
      ASSERT_LT(output.memory(), 4 * size + 1'000'000) << size << " " << i;
    }
    stream.room = SIZE_MAX;
    size_t written = 0;
    EXPECT_EQ(output.Flush(stream, written), Stream::Outcome::kDone);
    EXPECT_TRUE(stream.text == expected) << size;
    EXPECT_TRUE(output.empty());
  }
}

}  // namespace
}  // namespace tern::server
