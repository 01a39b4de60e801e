// Tests the end of the server: accepted requests are answered, and no client holds it up.
#include "server/http/test_server.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;
using Mode = EchoVersion::Mode;

TEST_F(HttpTest, DrainAnswersWhatWasAccepted) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient idle(server->port()), busy(server->port());
  idle.Send(Get("/v2/health/live"));
  std::string text;
  EXPECT_EQ(ReadReply(idle, text).status, 200);
  busy.Send(Post("/v2/models/hold/infer", kSmall));
  ASSERT_TRUE(Eventually([&] { return hold->submitted == 1; }));
  context.draining = true;
  std::thread drain([&] { server->Drain(5s); });
  EXPECT_EQ(idle.Read(), "");
  hold->Release();
  const TestReply reply = ReadReply(busy, text);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.Field("Connection"), "close");
  busy.Close();
  drain.join();
  EXPECT_FALSE(TestClient(server->port()).connected());
}

// A client cannot know that the server is about to end when it sends its next request, or its first one.
TEST_F(HttpTest, DrainWaitsForClientsThatWereJustActive) {
  Start();
  TestClient used(server->port()), fresh(server->port());
  used.Send(Get("/v2/health/live"));
  std::string text;
  EXPECT_EQ(ReadReply(used, text).Field("Connection"), "");
  ASSERT_TRUE(Eventually([&] { return server->connections() == 2; }));
  context.draining = true;
  std::thread drain([&] { EXPECT_TRUE(server->Drain(20s)); });
  ASSERT_TRUE(Eventually([&] { return !TestClient(server->port()).connected(); }));
  for (TestClient* client : {&used, &fresh}) {
    client->Send(Post("/v2/models/echo/infer", kSmall));
    text.clear();
    const TestReply reply = ReadReply(*client, text);
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.Field("Connection"), "close");
    EXPECT_EQ(client->Read(), "");
  }
  drain.join();
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpTest, HalfAHeadDoesNotHoldUpTheEnd) {
  Start();
  TestClient client(server->port());
  client.Send("GET /v2/health/live HTT");
  std::this_thread::sleep_for(50ms);
  const auto begin = Clock::now();
  server->Drain(10s);
  EXPECT_LT(Clock::now() - begin, 5s);
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpTest, HalfABodyDoesNotHoldUpTheEnd) {
  Start();
  TestClient whole(server->port()), chunked(server->port());
  whole.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
  chunked.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{");
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);
  EXPECT_TRUE(server->Drain(20s));
  EXPECT_EQ(server->connections(), 0u);
}

// The pause after each byte is short, but the client never ends its request.
TEST_F(HttpTest, ABodyThatTricklesDoesNotHoldUpTheEnd) {
  Start();
  TestClient client(server->port());
  client.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{");
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);
  std::atomic<bool> end{false};
  std::thread trickle([&] {
    while (!end) {
      client.Send(" ");
      std::this_thread::sleep_for(100ms);
    }
  });
  server->Drain(20s);
  EXPECT_EQ(server->connections(), 0u);
  end = true;
  trickle.join();
}

// The second request begins while the first one runs, and never ends.
TEST_F(HttpTest, HalfAPipelinedRequestDoesNotHoldUpTheEnd) {
  auto hold = Add(Config("hold"), Mode::kHold);
  Start();
  TestClient client(server->port());
  const std::string request = Post(
      "/v2/models/hold/infer", R"({"inputs":[{"name":"IN0","shape":[1,1],"datatype":"FP32","data":[1]}]})");
  client.Send(request.substr(0, request.size() - 1));
  EXPECT_EQ(Send(Get("/v2/health/live")).status, 200);
  std::thread drain([&] { server->Drain(20s); });
  std::this_thread::sleep_for(200ms);
  client.Send(request.substr(request.size() - 1) + request.substr(0, request.size() - 1));
  Eventually([&] { return hold->submitted == 1 || server->connections() == 0; });
  std::this_thread::sleep_for(1200ms);  // longer than the rest of the first request may take
  hold->Release();
  drain.join();
  EXPECT_EQ(server->connections(), 0u);
}

}  // namespace
}  // namespace tern::server
