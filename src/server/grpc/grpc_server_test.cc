// Tests unary calls through real sockets.
#include <zlib.h>

#include "server/grpc/message_compression.h"
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

using inference::ModelInferResponse;

TEST_F(GrpcServerTest, AnswersInTheSameTurn) {
  Http2Client client(server->port());
  TestStream& stream = client.Finish(client.OpenInfer(InferRequest("echo")));
  EXPECT_EQ(stream.status(), 0) << stream.message();
  EXPECT_EQ(stream.headers[":status"], "200");
  EXPECT_EQ(stream.headers["content-type"], "application/grpc");
  const auto response = stream.Parse<ModelInferResponse>();
  EXPECT_EQ(response.model_name(), "echo");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "42");
  ASSERT_EQ(response.outputs_size(), 1);
  EXPECT_EQ(response.outputs(0).name(), "OUTPUT0");
  EXPECT_EQ(response.outputs(0).datatype(), "FP32");
  EXPECT_EQ(response.outputs(0).shape(0), 4);
  EXPECT_EQ(response.raw_output_contents(0), InferRequest("echo").raw_input_contents(0));
}

TEST_F(GrpcServerTest, AnswersFromAnotherThread) {
  Http2Client client(server->port());
  std::vector<int32_t> ids;
  for (int i = 0; i < 20; ++i)
    ids.push_back(client.OpenInfer(InferRequest("thread", 4, static_cast<float>(i))));
  for (int i = 0; i < 20; ++i) {
    const auto response = client.Finish(ids[static_cast<size_t>(i)]).Parse<ModelInferResponse>();
    EXPECT_EQ(response.raw_output_contents(0),
              InferRequest("x", 4, static_cast<float>(i)).raw_input_contents(0));
  }
}

TEST_F(GrpcServerTest, LargeTensorsBothWays) {
  Http2Client client(server->port());
  // 20 MB, which is more than the flow-control windows.
  const auto request = InferRequest("echo", size_t{5} << 20);
  TestStream& stream = client.Finish(client.OpenInfer(request));
  ASSERT_EQ(stream.status(), 0) << stream.message();
  EXPECT_TRUE(stream.Parse<ModelInferResponse>().raw_output_contents(0) == request.raw_input_contents(0));
  EXPECT_TRUE(Eventually([&] {
    models["echo"]->last = {};
    return context.queued_bytes == 0;
  }));
}

TEST_F(GrpcServerTest, ReportsErrorsAsStatus) {
  Http2Client client(server->port());
  TestStream& unknown = client.Finish(client.OpenInfer(InferRequest("nobody")));
  EXPECT_EQ(unknown.status(), 5);
  EXPECT_EQ(unknown.message(), "Request for unknown model: 'nobody' is not found");
  TestStream& failed = client.Finish(client.OpenInfer(InferRequest("fail")));
  EXPECT_EQ(failed.status(), 14);
  EXPECT_EQ(failed.message(), "Exceeds maximum queue size");
  EXPECT_EQ(failed.headers["grpc-retry-pushback-ms"], "70");
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("repeat"))).status(), 12);
  EXPECT_EQ(client.Call("ModelInfer", "\xff\xff").status(), 3);
  EXPECT_EQ(client.Call("NoSuchMethod", "").status(), 12);
  EXPECT_EQ(client.Call("ModelInfer", "\x0a\x01\xc3").status(), 3);  // a name that is not UTF-8
  auto mixed = InferRequest("echo");
  mixed.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_EQ(client.Finish(client.OpenInfer(mixed)).status(), 3);
}

TEST_F(GrpcServerTest, RefusesWhatIsNoGrpc) {
  Http2Client client(server->port());
  const std::string path = "/inference.GRPCInferenceService/ServerLive";
  EXPECT_EQ(client.Finish(client.Open(path, "", true, {}, "GET")).headers[":status"], "405");
  EXPECT_EQ(client.Finish(client.Open(path, "", true, {}, "POST", "application/json")).headers[":status"],
            "415");
  EXPECT_EQ(client.Finish(client.Open(path, "", true, {}, "POST", "application/grpc-web")).headers[":status"],
            "415");
  EXPECT_EQ(client.Finish(client.Open(path, Frame(""), true, {}, "POST", "application/grpc+proto")).status(),
            0);
  EXPECT_EQ(client.Finish(client.Open(path, "", true)).status(), 13);                     // no message
  EXPECT_EQ(client.Finish(client.Open(path, Frame("") + Frame(""), true)).status(), 13);  // two messages
  // A truncated prefix.
  EXPECT_EQ(client.Finish(client.Open(path, Frame("").substr(0, 3), true)).status(), 13);
  EXPECT_EQ(client.Finish(client.Open(path, Frame(""), true, {{"grpc-timeout", "5x"}})).status(), 3);
  EXPECT_EQ(client.Finish(client.Open(path, Frame(""), true, {{"x-long", std::string(20'000, 'a')}}))
                .headers[":status"],
            "431");
}

TEST_F(GrpcServerTest, Http1ClientGetsAnAnswer) {
  TestClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = client.ReadAll();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 505")) << answer;
  const size_t body = answer.find("\r\n\r\n") + 4;
  EXPECT_NE(answer.find("Content-Length: " + std::to_string(answer.size() - body) + "\r\n"),
            std::string::npos);
}

TEST_F(GrpcServerTest, CancelReachesTheCall) {
  Http2Client client(server->port());
  const int32_t id = client.OpenInfer(InferRequest("hold"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  client.Reset(id);
  EXPECT_TRUE(Eventually([&] { return models["hold"]->Held()[0]->cancelled(); }));
  EXPECT_TRUE(models["hold"]->Held()[0]->finished());
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
}

TEST_F(GrpcServerTest, DisconnectCancelsAllCalls) {
  {
    Http2Client client(server->port());
    client.OpenInfer(InferRequest("hold"));
    client.OpenInfer(InferRequest("hold"));
    ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 2; }));
  }
  EXPECT_TRUE(Eventually(
      [&] { return models["hold"]->Held()[0]->cancelled() && models["hold"]->Held()[1]->cancelled(); }));
}

TEST_F(GrpcServerTest, DeadlinePasses) {
  Http2Client client(server->port());
  TestStream& stream = client.Finish(client.OpenInfer(InferRequest("hold"), {{"grpc-timeout", "50m"}}));
  EXPECT_EQ(stream.status(), 4);
  EXPECT_EQ(stream.message(), "Deadline Exceeded");
  EXPECT_TRUE(models["hold"]->Held()[0]->cancelled());
  EXPECT_EQ(models["hold"]->last.timeout, std::chrono::microseconds(50'000));
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"grpc-timeout", "0n"}})).status(), 4);
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"grpc-timeout", "99999999H"}})).status(),
            0);
  // The body of this request never ends.
  const int32_t id =
      client.Open("/inference.GRPCInferenceService/ModelInfer", "", false, {{"grpc-timeout", "20m"}});
  EXPECT_EQ(client.Finish(id).status(), 4);
}

TEST_F(GrpcServerTest, LateAnswerOfAClosedStreamIsDropped) {
  Http2Client client(server->port());
  client.Finish(client.OpenInfer(InferRequest("hold"), {{"grpc-timeout", "10m"}}));
  auto held = models["hold"]->Held();
  held[0]->Respond(EchoModel::Echo(*held[0]));
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
}

std::string Gzip(const std::string& text) {
  OutMessage message;
  message.head += Frame(text);
  CompressMessage(message, 6);
  return message.head.substr(message.begin + 5);
}

TEST_F(GrpcServerTest, ReadsCompressedMessages) {
  Http2Client client(server->port());
  const auto request = InferRequest("echo", 1000);
  const std::string path = "/inference.GRPCInferenceService/ModelInfer";
  const std::string zipped = Gzip(request.SerializeAsString());
  auto call = [&](const std::string& body, const std::string& encoding) -> TestStream& {
    return client.Finish(client.Open(path, body, true, {{"grpc-encoding", encoding}}));
  };
  EXPECT_EQ(call(Frame(zipped, true), "gzip").Parse<ModelInferResponse>().raw_output_contents(0),
            request.raw_input_contents(0));
  // The header grpc-encoding is gzip, but the message's flag says that the message is not compressed.
  EXPECT_EQ(call(Frame(request.SerializeAsString()), "gzip").status(), 0);
  EXPECT_EQ(call(Frame(zipped, true), "deflate").status(), 3);
  EXPECT_EQ(call(Frame(zipped, true), "identity").status(), 13);
  EXPECT_EQ(call(Frame(zipped, true), "br").status(), 12);
  EXPECT_EQ(call(Frame(zipped.substr(0, 40), true), "gzip").status(), 3);
}

TEST_F(GrpcServerTest, RefusesDecompressionBombs) {
  context.limits.body_bytes = 1 << 20;
  StartServer({});
  Http2Client client(server->port());
  const std::string bomb = Gzip(std::string(size_t{8} << 20, '\0'));
  TestStream& stream = client.Finish(client.Open("/inference.GRPCInferenceService/ModelInfer",
                                                 Frame(bomb, true), true, {{"grpc-encoding", "gzip"}}));
  EXPECT_EQ(stream.status(), 8);
  EXPECT_EQ(context.queued_bytes, 0u);
}

TEST_F(GrpcServerTest, CompressesResponses) {
  GrpcOptions options;
  options.response_compression = 3;
  StartServer(options);
  Http2Client client(server->port());
  auto request = InferRequest("echo", 4000);
  for (const size_t bytes : {size_t{1'600'000}, size_t{16'000}}) {
    request.set_raw_input_contents(0, std::string(bytes, '\1'));
    request.mutable_inputs(0)->set_shape(0, static_cast<int64_t>(bytes / 4));
    TestStream& stream =
        client.Finish(client.OpenInfer(request, {{"grpc-accept-encoding", "identity, deflate, gzip"}}));
    EXPECT_EQ(stream.headers["grpc-encoding"], "gzip");
    EXPECT_EQ(stream.body[0], 1);
    EXPECT_LT(stream.body.size(), bytes / 16);
    const std::string zipped = stream.Messages().at(0);
    const auto plain = Decompress(Buffer::Borrow(const_cast<char*>(zipped.data()), zipped.size(), nullptr),
                                  Compression::kGzip, 1 << 21);
    ASSERT_TRUE(plain.ok());
    ModelInferResponse response;
    ASSERT_TRUE(response.ParseFromArray(plain->data(), static_cast<int>(plain->size())));
    EXPECT_TRUE(response.raw_output_contents(0) == request.raw_input_contents(0));
  }
  TestStream& other = client.Finish(client.OpenInfer(request));
  EXPECT_EQ(other.headers.count("grpc-encoding"), 0u);
  EXPECT_EQ(other.Parse<ModelInferResponse>().raw_output_contents(0), request.raw_input_contents(0));
}

TEST_F(GrpcServerTest, LimitsMessageSize) {
  GrpcOptions options;
  options.max_message_bytes = 1000;
  StartServer(options);
  Http2Client client(server->port());
  TestStream& stream = client.Finish(client.OpenInfer(InferRequest("echo", 1000)));
  EXPECT_EQ(stream.status(), 8);
  EXPECT_NE(stream.message().find("exceeds the limit of 1000 bytes"), std::string::npos) << stream.message();
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"))).status(), 0);
}

TEST_F(GrpcServerTest, LimitsQueuedBytes) {
  context.limits.queued_bytes = 10'000;
  Http2Client client(server->port());
  client.OpenInfer(InferRequest("hold", 2000));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo", 2000))).status(), 8);
  models["hold"]->Held()[0]->Respond({});
  EXPECT_EQ(context.queued_bytes, 0u);
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo", 2000))).status(), 0);
}

TEST_F(GrpcServerTest, ReadsParameters) {
  Http2Client client(server->port());
  auto request = InferRequest("echo");
  auto& parameters = *request.mutable_parameters();
  parameters["sequence_id"].set_int64_param(77);
  parameters["sequence_start"].set_bool_param(true);
  parameters["priority"].set_uint64_param(3);
  parameters["timeout"].set_int64_param(5000);
  parameters["mine"].set_string_param("x");
  parameters["triton_enable_empty_final_response"].set_bool_param(true);
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  ASSERT_EQ(
      client.Finish(client.OpenInfer(request, {{"traceparent", "00-" + trace + "-b7ad6b7169203331-01"}}))
          .status(),
      0);
  const Request& last = models["echo"]->last;
  EXPECT_EQ(last.sequence.id, "77");
  EXPECT_TRUE(last.sequence.numeric && last.sequence.start && !last.sequence.end);
  EXPECT_EQ(last.priority, 3u);
  EXPECT_EQ(last.timeout.count(), 5000);
  EXPECT_TRUE(last.empty_final);
  ASSERT_EQ(last.parameters.size(), 1u);
  EXPECT_EQ(std::get<std::string>(last.parameters[0].second), "x");
  EXPECT_EQ(last.trace.trace_id, trace);
  EXPECT_TRUE(last.trace.sampled);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].trace, trace);
  EXPECT_EQ(records[0].target, "/inference.GRPCInferenceService/ModelInfer");
  EXPECT_EQ(records[0].model, "echo");
  EXPECT_EQ(records[0].id, "42");
  EXPECT_TRUE(records[0].has_times);
  EXPECT_GT(records[0].received, 20u);
  EXPECT_GT(records[0].sent, 20u);
}

TEST_F(GrpcServerTest, RecordsFailures) {
  Http2Client client(server->port());
  client.Finish(client.OpenInfer(InferRequest("nobody")));
  client.Call("Nothing", "");
  const std::lock_guard lock(mutex);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].status, 5);
  EXPECT_EQ(records[0].model, "nobody");
  EXPECT_NE(records[0].error, "");
  EXPECT_EQ(records[1].status, 12);
  EXPECT_EQ(records[1].target, "/inference.GRPCInferenceService/Nothing");
}

TEST_F(GrpcServerTest, DrainAnswersWhatItAccepted) {
  Http2Client client(server->port());
  const int32_t id = client.OpenInfer(InferRequest("hold"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  context.draining = true;
  std::thread drain([&] { server->Drain(std::chrono::seconds(5)); });
  ASSERT_TRUE(client.Until([&] { return client.goaway; }));
  EXPECT_EQ(client.goaway_error, 0u);
  auto held = models["hold"]->Held();
  held[0]->Respond(EchoModel::Echo(*held[0]));
  EXPECT_EQ(client.Finish(id).status(), 0);
  client.Until([] { return false; });
  EXPECT_TRUE(client.closed);
  client.socket.Close();
  drain.join();
}

TEST_F(GrpcServerTest, RefusesNewRequestsWhileDraining) {
  context.draining = true;
  Http2Client client(server->port());
  TestStream& stream = client.Finish(client.OpenInfer(InferRequest("echo")));
  EXPECT_EQ(stream.status(), 14);
  EXPECT_EQ(stream.message(), "Server exiting");
}

TEST_F(GrpcServerTest, OldConnectionsGoAway) {
  GrpcOptions options;
  options.max_connection_age = std::chrono::milliseconds(100);
  options.max_connection_age_grace = std::chrono::milliseconds(200);
  StartServer(options);
  Http2Client client(server->port());
  const int32_t id = client.OpenInfer(InferRequest("hold"));
  EXPECT_TRUE(client.Until([&] { return client.goaway; }));
  EXPECT_FALSE(client.streams[id].closed);
  client.Until([] { return false; });  // reads until the server closes the connection after the grace period
  EXPECT_TRUE(client.closed);
  EXPECT_TRUE(models["hold"]->Held()[0]->cancelled());
}

TEST_F(GrpcServerTest, KeepaliveClosesDeadConnections) {
  GrpcOptions options;
  options.keepalive_time = std::chrono::milliseconds(50);
  options.keepalive_timeout = std::chrono::milliseconds(50);
  StartServer(options);
  Http2Client alive(server->port());
  EXPECT_TRUE(alive.Until([&] { return alive.pings >= 3; }));
  Http2Client dead(server->port());
  dead.Call("ServerLive", "");
  const auto start = Clock::now();
  while (!dead.socket.Read().empty()) {  // reads pings but does not answer them
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
}

TEST_F(GrpcServerTest, SpeaksTls) {
  TestCertificates files;
  GrpcOptions options;
  options.listen.tls = {files.Path("server.pem"), files.Path("server.key"), ""};
  StartServer(options);
  TestClient client(server->port());
  TestTls tls(client, files, false, "h2");
  ASSERT_TRUE(tls.connected());
  EXPECT_EQ(tls.Protocol(), "h2");
  ASSERT_TRUE(
      tls.Send(std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") + std::string("\0\0\0\4\0\0\0\0\0", 9)));
  const std::string header = tls.ReadExactly(9);
  ASSERT_EQ(header.size(), 9u);
  EXPECT_EQ(header[3], 4);  // SETTINGS
}

TEST_F(GrpcServerTest, ManyClientsAtOnce) {
  server.reset();
  loops = std::move(*Loops::Start(2));
  StartServer({});
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Http2Client client(server->port());
      for (int i = 0; i < 50; ++i) {
        const auto request = InferRequest(i % 2 ? "echo" : "thread", 100, static_cast<float>(t * 1000 + i));
        TestStream& stream = client.Finish(client.OpenInfer(request));
        if (stream.status() == 0 &&
            stream.Parse<ModelInferResponse>().raw_output_contents(0) == request.raw_input_contents(0))
          ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 200);
}

}  // namespace
}  // namespace tern::server
