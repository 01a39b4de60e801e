// Tests clients that violate HTTP/2, with hand-made frames.
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string RawFrame(int type, int flags, uint32_t stream, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string out = {static_cast<char>(size >> 16), static_cast<char>(size >> 8), static_cast<char>(size),
                     static_cast<char>(type), static_cast<char>(flags)};
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(stream >> shift));
  return out + payload;
}

// Encodes a header in HPACK as a literal without indexing.
std::string Header(const std::string& name, const std::string& value) {
  auto text = [](const std::string& s) {
    std::string out;
    if (s.size() < 127) return std::string(1, static_cast<char>(s.size())) + s;
    out.push_back(127);
    for (size_t rest = s.size() - 127;; rest >>= 7) {
      out.push_back(static_cast<char>(rest >= 128 ? rest % 128 + 128 : rest));
      if (rest < 128) return out + s;
    }
  };
  return std::string(1, '\0') + text(name) + text(value);
}

std::string RequestHeaders(const std::string& path = "/inference.GRPCInferenceService/ModelInfer") {
  return Header(":method", "POST") + Header(":scheme", "http") + Header(":path", path) +
         Header(":authority", "x") + Header("content-type", "application/grpc");
}

// Returns the error and the text of the last GOAWAY frame, or {-1, ""} if there is none.
std::pair<int, std::string> GoAway(const std::string& bytes) {
  std::pair<int, std::string> found = {-1, ""};
  for (size_t at = 0; at + 9 <= bytes.size();) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
    const size_t size = static_cast<size_t>(byte(0)) << 16 | static_cast<size_t>(byte(1)) << 8 | byte(2);
    if (byte(3) == 7 && size >= 8 && at + 9 + size <= bytes.size())
      found = {byte(16), bytes.substr(at + 17, size - 8)};
    at += 9 + size;
  }
  return found;
}

class GrpcHostileTest : public GrpcServerTest {
 protected:
  // Sends bytes after the preface, and returns what the server sends until it closes.
  std::string Provoke(const std::string& bytes) {
    TestClient client(server->port());
    client.Send(std::string(kPreface) + RawFrame(4, 0, 0, "") + bytes);
    return client.ReadAll();
  }
  void ExpectAlive() {
    Http2Client client(server->port());
    EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"))).status(), 0);
  }
};

std::string Repeat(const std::string& frame, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += frame;
  return out;
}

TEST_F(GrpcHostileTest, PingFlood) {
  const auto [error, text] = GoAway(Provoke(Repeat(RawFrame(6, 0, 0, "12345678"), 2000)));
  EXPECT_EQ(error, NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_EQ(text, "too_many_pings");
  ExpectAlive();
}

TEST_F(GrpcHostileTest, SettingsFlood) {
  EXPECT_EQ(GoAway(Provoke(Repeat(RawFrame(4, 0, 0, ""), 500))).second, "too_many_settings");
}

TEST_F(GrpcHostileTest, EmptyDataFlood) {
  const std::string open = RawFrame(1, 4, 1, RequestHeaders());
  EXPECT_EQ(GoAway(Provoke(open + Repeat(RawFrame(0, 0, 1, ""), 5000))).second, "too_many_empty_frames");
}

TEST_F(GrpcHostileTest, RapidReset) {
  std::string bytes;
  for (uint32_t i = 0; i < 4000; ++i)
    bytes +=
        RawFrame(1, 4, i * 2 + 1, RequestHeaders()) + RawFrame(3, 0, i * 2 + 1, std::string("\0\0\0\x08", 4));
  EXPECT_EQ(GoAway(Provoke(bytes)).first, NGHTTP2_ENHANCE_YOUR_CALM);
  ExpectAlive();
}

TEST_F(GrpcHostileTest, ContinuationFlood) {
  std::string bytes = RawFrame(1, 0, 1, RequestHeaders());
  for (int i = 0; i < 2000; ++i)
    bytes += RawFrame(9, 0, 1, Header("x" + std::to_string(i), std::string(50, 'a')));
  Provoke(bytes);
  ExpectAlive();
}

TEST_F(GrpcHostileTest, HeaderBombEndsTheConnectionOrTheStream) {
  // The block adds one large entry to the dynamic table and refers to it many times.
  std::string block = std::string("\x40", 1) + Header("x", std::string(3000, 'a')).substr(1);
  block += std::string(4000, '\xbe');
  Provoke(RawFrame(1, 4, 1, RequestHeaders() + block));
  ExpectAlive();
}

TEST_F(GrpcHostileTest, GarbageAndCutFrames) {
  TestClient garbage(server->port());
  garbage.Send(std::string(100'000, '\xab'));
  EXPECT_EQ(garbage.ReadAll(), "");
  EXPECT_NE(GoAway(Provoke(RawFrame(0, 0, 1, "data on an idle stream"))).first, 0);
  EXPECT_NE(GoAway(Provoke(RawFrame(8, 0, 0, std::string(4, '\0')))).first, 0);        // window update of 0
  EXPECT_NE(GoAway(Provoke(RawFrame(1, 4, 2, RequestHeaders()))).first, 0);            // an even stream
  EXPECT_NE(GoAway(Provoke(RawFrame(1, 4, 1, "\xff\xff\xff\xff\xff\xff"))).first, 0);  // not valid HPACK
  ExpectAlive();
}

TEST_F(GrpcHostileTest, TooManyStreams) {
  Http2Client client(server->port());
  client.Call("ServerLive", "");  // afterwards the client knows the server's settings and obeys them
  for (int i = 0; i < 1500; ++i) client.OpenInfer(InferRequest("hold"));
  EXPECT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1024; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(models["hold"]->Held().size(), 1024u);
}

TEST_F(GrpcHostileTest, AnnouncedButNotSentMessageCostsLittle) {
  Http2Client client(server->port());
  for (int i = 0; i < 100; ++i)
    client.Open("/inference.GRPCInferenceService/ModelInfer", std::string("\0\x0f\xff\xff\xff", 5), false);
  client.Call("ServerLive", "");
  EXPECT_GT(context.queued_bytes, 0u);
  EXPECT_LE(context.queued_bytes, uint64_t{1} << 20);
  client.socket.Close();
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcHostileTest, MessagesThatTrickleEnd) {
  GrpcOptions options;
  options.message_time = std::chrono::milliseconds(200);
  StartServer(options);
  Http2Client client(server->port());
  const int32_t slow =
      client.Open("/inference.GRPCInferenceService/ModelInfer", Frame("abcd").substr(0, 7), false);
  // A stream between two messages may wait for ever.
  const std::string message = Frame(InferRequest("echo").SerializeAsString());
  const int32_t idle = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", message, false);
  EXPECT_EQ(client.Finish(slow).status(), 4);
  EXPECT_NE(client.streams[slow].message().find("too slowly"), std::string::npos);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  client.Send(idle, message, true);
  EXPECT_EQ(client.Finish(idle).status(), 0);
  EXPECT_EQ(client.streams[idle].Messages().size(), 2u);
}

TEST_F(GrpcHostileTest, EmptyMessagesOfAStreamCount) {
  context.limits.queued_bytes = 1 << 20;
  Http2Client client(server->port());
  std::string messages = Frame(InferRequest("hold").SerializeAsString());
  for (int i = 0; i < 5000; ++i) messages += Frame("");
  const int32_t id = client.Open("/inference.GRPCInferenceService/ModelStreamInfer", messages, false);
  EXPECT_EQ(client.Finish(id).status(), 8);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

TEST_F(GrpcHostileTest, ClientThatNeverReadsIsClosed) {
  GrpcOptions options;
  options.message_time = std::chrono::milliseconds(400);
  StartServer(options);
  Http2Client client(server->port());
  client.Call("ServerLive", "");
  EXPECT_EQ(server->connections(), 1u);
  for (int i = 0; i < 14; ++i) client.OpenInfer(InferRequest("echo", 256 << 10));  // 1 MB each way
  EXPECT_TRUE(Eventually([&] { return server->connections() == 0; }));
}

TEST_F(GrpcHostileTest, ClientThatDoesNotReadIsBounded) {
  TestClient client(server->port());
  const auto request = InferRequest("echo", 256 << 10);  // 1 MB each way
  client.Send(std::string(kPreface) + RawFrame(4, 0, 0, ""));
  client.ReadExactly(9);               // the server's settings
  client.Send(RawFrame(4, 1, 0, ""));  // acknowledges them, because they apply only after that
  const timeval limit{0, 300'000};
  setsockopt(client.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const std::string body = Frame(request.SerializeAsString());
  bool sent = true;
  for (uint32_t id = 1; id < 800 && sent; id += 2) {
    std::string frames = RawFrame(1, 4, id, RequestHeaders());
    for (size_t at = 0; at < body.size(); at += 16384) {
      const std::string part = body.substr(at, 16384);
      frames += RawFrame(0, at + part.size() == body.size() ? 1 : 0, id, part);
    }
    sent = client.Send(frames);
  }
  ExpectAlive();
  EXPECT_LE(context.queued_bytes, uint64_t{64} << 20);
  const std::lock_guard lock(mutex);
  EXPECT_LE(records.size(), 60u);
}

}  // namespace
}  // namespace tern::server
