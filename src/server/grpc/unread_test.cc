// Tests clients that do not read responses, and messages that wait.
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

using inference::ModelInferResponse;
using inference::ModelStreamInferResponse;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;

class GrpcUnreadTest : public GrpcServerTest {
 protected:
  size_t Answered() {
    const std::lock_guard lock(mutex);
    return records.size();
  }
};

// The client receives frames, but it never opens its windows again.
TEST_F(GrpcUnreadTest, RequestsWaitUntilTheClientReadsTheResponses) {
  Http2Client client(server->port(), true, false);
  client.Call("ServerLive", "");
  const size_t before = Answered();
  std::vector<int32_t> ids;
  client.socket.LimitReads(100);
  for (int i = 0; i < 100; ++i) {
    ids.push_back(client.OpenInfer(InferRequest("echo", kMebibyte / 4, 1)));
    const TestStream& stream = client.streams[ids.back()];
    if (!client.Until([&] { return stream.sent == stream.to_send.size(); })) break;
  }
  client.socket.LimitReads(5000);
  EXPECT_LT(ids.size(), 70u) << "the server must stop reading requests";
  // 16 MiB are in the client's window, at most 32 MiB and one response wait in the server.
  const size_t answered = Answered() - before;
  EXPECT_GE(answered, 40u);
  EXPECT_LE(answered, 52u);
  EXPECT_GE(context.queued_bytes, 30 * kMebibyte) << "unread responses count";
  EXPECT_LE(context.queued_bytes, 56 * kMebibyte);
  // Another client is served.
  Http2Client other(server->port());
  EXPECT_EQ(other.Finish(other.OpenInfer(InferRequest("echo"))).status(), 0);
  // The client reads again: the requests that waited are answered.
  client.ReturnWindows();
  for (const int32_t id : ids) {
    client.Until([&] {
      client.ReturnWindows();
      return client.streams[id].closed;
    });
    EXPECT_EQ(client.streams[id].status(), 0) << id;
    EXPECT_EQ(client.streams[id].body.size() > kMebibyte, true) << id;
  }
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, ResponsesCountThatWaitForEarlierOnes) {
  Http2Client client(server->port());
  const std::string message = Frame(InferRequest("echo", kMebibyte / 16).SerializeAsString());
  std::string messages = Frame(InferRequest("hold").SerializeAsString());
  for (int i = 0; i < 3; ++i) messages += message;
  for (const bool leave : {false, true}) {
    const int32_t id = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages);
    const TestStream& stream = client.streams[id];
    client.Until([&] { return stream.sent == messages.size(); });
    EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
    EXPECT_TRUE(Eventually([&] { return context.queued_bytes >= 3 * kMebibyte / 4; }));
    const auto call = models["hold"]->Held().back();
    if (leave)
      client.Reset(id);
    else
      call->Respond(EchoModel::Echo(*call));
    client.Finish(id);
    EXPECT_EQ(stream.Messages().size(), leave ? 0u : 4u);
    EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  }
}

// The client cannot read them yet, so they hold up neither other calls nor the rest of their stream.
TEST_F(GrpcUnreadTest, ResponsesThatWaitForEarlierOnesHoldUpNothing) {
  context.limits.queued_bytes = 64 * kMebibyte;  // requests are held from 2 MiB of unread responses on
  Http2Client client(server->port());
  std::string messages = Frame(InferRequest("hold").SerializeAsString());
  for (int i = 0; i < 4; ++i) messages += Frame(InferRequest("echo", kMebibyte / 4).SerializeAsString());
  const int32_t id = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages, false);
  client.Until([&] { return client.streams[id].sent == messages.size(); });
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes >= 4 * kMebibyte; }));
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  client.Send(id, Frame(InferRequest("hold").SerializeAsString()), true);
  EXPECT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 2; }));
  for (const auto& call : models["hold"]->Held()) call->Respond(EchoModel::Echo(*call));
  EXPECT_EQ(client.Finish(id).status(), 0);
  EXPECT_EQ(client.streams[id].Messages().size(), 6u);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, AClientThatLeavesFreesItsResponses) {
  {
    Http2Client client(server->port(), true, false);
    client.Call("ServerLive", "");
    for (int i = 0; i < 60; ++i) client.OpenInfer(InferRequest("thread", kMebibyte / 4));
    client.socket.LimitReads(100);
    client.Until([] { return false; });
    EXPECT_GE(context.queued_bytes, 8 * kMebibyte);
  }
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, AClientThatNeverOpensItsWindowsIsClosed) {
  GrpcOptions options;
  options.message_time = std::chrono::milliseconds(400);
  StartServer(options);
  Http2Client client(server->port(), true, false);
  client.Call("ServerLive", "");
  for (int i = 0; i < 100; ++i) client.OpenInfer(InferRequest("echo", kMebibyte / 4));
  client.Until([] { return false; });
  EXPECT_TRUE(client.closed);
  EXPECT_TRUE(Eventually([&] { return server->connections() == 0; }));
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

// The answers to pings are bytes that the client takes, but they are not its responses.
TEST_F(GrpcUnreadTest, PingsDoNotKeepUnreadResponses) {
  GrpcOptions options;
  options.message_time = std::chrono::milliseconds(400);
  StartServer(options);
  Http2Client client(server->port(), true, false);
  client.Call("ServerLive", "");
  // Each response fills the window of its stream. The last one closes the window of the connection, and only
  // then the time of the client begins.
  for (int i = 0; i < 16; ++i) {
    const TestStream& stream = client.streams[client.OpenInfer(InferRequest("echo", kMebibyte / 4))];
    const size_t window = i < 15 ? kMebibyte : kMebibyte / 2;
    ASSERT_TRUE(client.Until([&] { return stream.body.size() >= window; })) << i;
  }
  client.socket.LimitReads(50);
  for (int i = 0; i < 150 && server->connections() > 0; ++i) {
    client.Ping();
    client.Until([] { return false; });
  }
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_EQ(client.goaway_text, "");
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

class GrpcStalledTest : public GrpcUnreadTest {
 protected:
  static constexpr std::chrono::milliseconds kTime{300};
  void SetUp() override {
    context.limits.queued_bytes = 64 * kMebibyte;  // requests are held from 2 MiB of unread responses on
    GrpcOptions options;
    options.message_time = kTime;
    StartServer(options);
  }
  // Opens a stream whose response is longer than its window. The client never opens that window again.
  int32_t Stall(Http2Client& client, uint64_t bytes) {
    const int32_t id = client.OpenInfer(InferRequest("echo", bytes / 4));
    EXPECT_TRUE(client.Until([&] { return client.streams[id].body.size() == kMebibyte; }));
    return id;
  }
};

// An application may read a stream late. Its connection still serves the other streams.
TEST_F(GrpcStalledTest, AStalledStreamKeepsItsConnection) {
  Http2Client client(server->port(), true, false);
  const int32_t id = Stall(client, 2 * kMebibyte);
  std::this_thread::sleep_for(4 * kTime);
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  EXPECT_FALSE(client.streams[id].closed);
  while (!client.streams[id].closed && !client.closed) {
    client.ReturnWindows();
    const size_t before = client.received.size();
    client.Until([&] { return client.received.size() > before; });
  }
  EXPECT_EQ(client.streams[id].status(), 0);
}

// Its unread bytes hold up other requests, so the stream ends, but not its connection.
TEST_F(GrpcStalledTest, ALargeStalledStreamIsReset) {
  Http2Client client(server->port(), true, false);
  const int32_t small = Stall(client, kMebibyte + kMebibyte / 2), large = Stall(client, 4 * kMebibyte);
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0) << "waits until the stream is reset";
  client.Finish(large);
  EXPECT_EQ(client.streams[large].error, uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_FALSE(client.streams[small].closed);
}

// Few clients must not take a small budget.
TEST_F(GrpcUnreadTest, ASmallBudgetHoldsRequestsEarlier) {
  context.limits.queued_bytes = 64 * kMebibyte;
  Http2Client client(server->port(), true, false);
  client.Call("ServerLive", "");
  const size_t before = Answered();
  client.socket.LimitReads(100);
  for (int i = 0; i < 100; ++i) {
    const TestStream& stream = client.streams[client.OpenInfer(InferRequest("echo", kMebibyte / 16))];
    const auto read = [&] { return stream.ended || client.received.size() > 15 * kMebibyte; };
    if (!client.Until([&] { return stream.sent == stream.to_send.size() && read(); })) break;
  }
  client.Until([] { return false; });
  // 16 MiB are in the client's window, 2 MiB and one response wait in the server.
  EXPECT_GE(Answered() - before, 64u);
  EXPECT_LE(Answered() - before, 74u);
  Http2Client other(server->port());
  EXPECT_EQ(other.Finish(other.OpenInfer(InferRequest("echo"))).status(), 0);
}

TEST_F(GrpcUnreadTest, LargeMessagesArriveInPlace) {
  Http2Client client(server->port());
  client.Call("ServerLive", "");  // afterwards the client knows that it may send frames of 1 MiB
  auto request = InferRequest("echo", 5 * kMebibyte, 3);
  const int32_t first = client.OpenInfer(request),
                second = client.OpenInfer(InferRequest("echo", kMebibyte, 9));
  for (const int32_t id : {first, second}) {
    const TestStream& stream = client.Finish(id);
    ASSERT_EQ(stream.status(), 0);
    const auto sent = id == first ? request : InferRequest("echo", kMebibyte, 9);
    EXPECT_TRUE(stream.Parse<ModelInferResponse>().raw_output_contents(0) == sent.raw_input_contents(0));
  }
}

TEST_F(GrpcUnreadTest, CompressedMessagesKeepTheirOrder) {
  Http2Client client(server->port());
  std::string messages;
  for (int i = 0; i < 20; ++i) {
    auto request = InferRequest("echo", i % 2 ? 4 : 100'000);
    request.set_id(std::to_string(i));
    const std::string text = request.SerializeAsString();
    messages += i % 3 ? Frame(text) : Zipped(text);
  }
  const int32_t id = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages, true,
                                 {{"grpc-encoding", "gzip"}});
  const TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 20u);
  for (size_t i = 0; i < 20; ++i)
    EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(i).infer_response().id(), std::to_string(i));
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, AResetWhileAMessageIsDecompressed) {
  Http2Client client(server->port());
  for (int i = 0; i < 20; ++i) {
    const int32_t id = client.Open("/inference.GRPCInferenceService/ModelInfer",
                                   Zipped(InferRequest("echo", 1'000'000).SerializeAsString()), true,
                                   {{"grpc-encoding", "gzip"}});
    client.Reset(id);
  }
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, DrainSaysWhetherRequestsAreLeft) {
  Http2Client client(server->port());
  client.OpenInfer(InferRequest("hold"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  EXPECT_FALSE(server->Drain(std::chrono::milliseconds(200)));
  for (const auto& call : models["hold"]->Held()) call->Respond(EchoModel::Echo(*call));
  EXPECT_TRUE(Eventually([&] { return server->Drain(std::chrono::milliseconds(200)); }));
}

TEST_F(GrpcUnreadTest, DrainEndsRequestsThatAreNotComplete) {
  Http2Client client(server->port());
  const std::string message = Frame(InferRequest("echo").SerializeAsString());
  const std::string path = "/inference.GRPCInferenceService/ModelInfer";
  const int32_t half = client.Open(path, message.substr(0, 20), false);
  const int32_t open = client.Open(path, message, false);  // without its end
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  context.draining = true;
  bool drained = false;
  std::thread drain([&] { drained = server->Drain(std::chrono::seconds(5)); });
  for (const int32_t id : {half, open}) EXPECT_EQ(client.Finish(id).status(), 14) << id;
  drain.join();
  EXPECT_TRUE(drained);
}

TEST_F(GrpcUnreadTest, LongTypedContentsLeaveTheLoop) {
  inference::ModelInferRequest request = InferRequest("echo", 200'000);
  request.clear_raw_input_contents();
  for (int i = 0; i < 200'000; ++i)
    request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(static_cast<float>(i));
  Http2Client client(server->port());
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"))).status(), 0);
  const std::thread::id loop = models["echo"]->submit_thread;
  const TestStream& stream = client.Finish(client.OpenInfer(request));
  EXPECT_EQ(stream.status(), 0);
  EXPECT_NE(models["echo"]->submit_thread, loop);
  const auto response = stream.Parse<ModelInferResponse>();
  EXPECT_TRUE(response.raw_output_contents(0) == InferRequest("echo", 200'000).raw_input_contents(0));
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo", 200'000))).status(), 0);
  EXPECT_EQ(models["echo"]->submit_thread, loop) << "raw contents are not converted";
  request.set_model_name("nobody");
  EXPECT_EQ(client.Finish(client.OpenInfer(request)).status(), 5);
  request.mutable_inputs(0)->set_shape(0, 7);
  request.set_model_name("echo");
  EXPECT_EQ(client.Finish(client.OpenInfer(request)).status(), 3);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, AResetWhileContentsAreConverted) {
  inference::ModelInferRequest request = InferRequest("echo", 200'000);
  request.clear_raw_input_contents();
  for (int i = 0; i < 200'000; ++i) request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  Http2Client client(server->port());
  for (int i = 0; i < 20; ++i) client.Reset(client.OpenInfer(request));
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcUnreadTest, SmallCompressedMessagesHaveTheLimit) {
  GrpcOptions options;
  options.max_message_bytes = 10'000;
  StartServer(options);
  Http2Client client(server->port());
  auto request = InferRequest("echo", 5'000);
  request.set_raw_input_contents(0, std::string(20'000, '\0'));
  const Headers gzip = {{"grpc-encoding", "gzip"}};
  const std::string path = "/inference.GRPCInferenceService/ModelInfer";
  EXPECT_EQ(client.Finish(client.Open(path, Zipped(request.SerializeAsString()), true, gzip)).status(), 8);
  EXPECT_EQ(client.Finish(client.Open(path, Frame("no gzip", true), true, gzip)).status(), 3);
  EXPECT_EQ(client.Finish(client.Open(path, Frame("no gzip", true))).status(), 13);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

}  // namespace
}  // namespace tern::server
