// Tests the rpc ModelStreamInfer.
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

using inference::ModelStreamInferResponse;

constexpr const char* kPath = "/inference.GRPCInferenceService/ModelStreamInfer";

std::string Body(const inference::ModelInferRequest& request) { return Frame(request.SerializeAsString()); }

class GrpcStreamInferTest : public GrpcServerTest {
 protected:
  static bool Final(const ModelStreamInferResponse& response) {
    return response.infer_response().parameters().at("triton_final_response").bool_param();
  }
};

TEST_F(GrpcStreamInferTest, AnswersEachRequestAndEnds) {
  Http2Client client(server->port());
  const int32_t id = client.Open(kPath, Body(InferRequest("echo")), false);
  ASSERT_TRUE(client.Until([&] { return client.streams[id].Messages().size() == 1; }));
  client.Send(id, Body(InferRequest("echo", 4, 9)), true);
  TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 2u);
  const auto response = stream.Parse<ModelStreamInferResponse>(1);
  EXPECT_EQ(response.error_message(), "");
  EXPECT_TRUE(Final(response));
  EXPECT_EQ(response.infer_response().id(), "42");
  EXPECT_EQ(response.infer_response().raw_output_contents(0), InferRequest("x", 4, 9).raw_input_contents(0));
}

TEST_F(GrpcStreamInferTest, EndsWithoutARequest) {
  Http2Client client(server->port());
  EXPECT_EQ(client.Finish(client.Open(kPath, "")).status(), 0);
}

TEST_F(GrpcStreamInferTest, ErrorsLeaveTheStreamOpen) {
  Http2Client client(server->port());
  const int32_t id = client.Open(kPath, Body(InferRequest("nobody")) + Body(InferRequest("fail")) +
                                            Frame("\xff") + Body(InferRequest("echo")));
  TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 4u);
  const auto first = stream.Parse<ModelStreamInferResponse>(0);
  EXPECT_EQ(first.error_message(), "Request for unknown model: 'nobody' is not found");
  EXPECT_EQ(first.infer_response().id(), "42");
  EXPECT_TRUE(Final(first));
  EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(1).error_message(), "Exceeds maximum queue size");
  EXPECT_NE(stream.Parse<ModelStreamInferResponse>(2).error_message(), "");
  EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(3).error_message(), "");
}

TEST_F(GrpcStreamInferTest, ErrorsEndTheStreamIfTheClientAsksForIt) {
  Http2Client client(server->port());
  const int32_t id = client.Open(kPath, Body(InferRequest("hold")) + Body(InferRequest("repeat")), false,
                                 {{"triton_grpc_error", "true"}});
  ASSERT_TRUE(client.Until([&] { return client.streams[id].Messages().size() == 3; }));
  auto held = models["hold"]->Held();
  held[0]->Respond(EchoModel::Failure(Code::kInvalidArgument, "bad"));
  TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 3);
  EXPECT_EQ(stream.message(), "bad");
}

TEST_F(GrpcStreamInferTest, KeepsTheOrderOfRequests) {
  Http2Client client(server->port());
  const int32_t id =
      client.Open(kPath, Body(InferRequest("hold", 4, 1)) + Body(InferRequest("echo", 4, 2)) +
                             Body(InferRequest("hold", 4, 3)) + Body(InferRequest("echo", 4, 4)));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 2; }));
  auto held = models["hold"]->Held();
  held[1]->Respond(EchoModel::Echo(*held[1]));
  held[0]->Respond(EchoModel::Echo(*held[0]));
  TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(i).infer_response().raw_output_contents(0),
              InferRequest("x", 4, static_cast<float>(i + 1)).raw_input_contents(0));
}

TEST_F(GrpcStreamInferTest, DecoupledModelsAnswerManyTimes) {
  Http2Client client(server->port());
  TestStream& stream = client.Finish(client.Open(kPath, Body(InferRequest("repeat"))));
  // Without an empty final one, because the request does not ask for it.
  ASSERT_EQ(stream.Messages().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const auto response = stream.Parse<ModelStreamInferResponse>(i);
    EXPECT_FALSE(Final(response));
    EXPECT_EQ(response.infer_response().parameters().at("index").int64_param(), static_cast<int64_t>(i));
  }
  auto request = InferRequest("repeat");
  (*request.mutable_parameters())["triton_enable_empty_final_response"].set_bool_param(true);
  TestStream& other = client.Finish(client.Open(kPath, Body(request)));
  ASSERT_EQ(other.Messages().size(), 4u);
  const auto last = other.Parse<ModelStreamInferResponse>(3);
  EXPECT_TRUE(Final(last));
  EXPECT_EQ(last.infer_response().outputs_size(), 0);
}

TEST_F(GrpcStreamInferTest, CancelCancelsAllCalls) {
  Http2Client client(server->port());
  const int32_t id = client.Open(kPath, Body(InferRequest("hold")) + Body(InferRequest("hold")), false);
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 2; }));
  client.Reset(id);
  EXPECT_TRUE(Eventually(
      [&] { return models["hold"]->Held()[0]->cancelled() && models["hold"]->Held()[1]->cancelled(); }));
  EXPECT_EQ(client.Call("ServerLive", "").status(), 0);
}

TEST_F(GrpcStreamInferTest, DrainEndsIdleStreams) {
  Http2Client client(server->port());
  const int32_t id = client.Open(kPath, Body(InferRequest("echo")), false);
  ASSERT_TRUE(client.Until([&] { return client.streams[id].Messages().size() == 1; }));
  context.draining = true;
  std::thread drain([&] { server->Drain(std::chrono::seconds(5)); });
  EXPECT_EQ(client.Finish(id).status(), 14);
  client.Until([] { return false; });
  client.socket.Close();
  drain.join();
}

TEST_F(GrpcStreamInferTest, HoldsBackClientsWithManyOpenCalls) {
  Http2Client client(server->port());
  std::string body;
  for (int i = 0; i < 3000; ++i) body += Body(InferRequest(i == 0 ? "hold" : "echo", 1000));  // 12 MB
  const int32_t id = client.Open(kPath, body);
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    auto held = models["hold"]->Held();
    held[0]->Respond(EchoModel::Echo(*held[0]));
  });
  TestStream& stream = client.Finish(id);
  release.join();
  EXPECT_EQ(stream.status(), 0);
  EXPECT_EQ(stream.Messages().size(), 3000u);
}

// Short requests wait for a long one, which another thread parses.
TEST_F(GrpcStreamInferTest, LongRequestsLeaveTheLoopInOrder) {
  inference::ModelInferRequest request = InferRequest("hold", 200'000);
  request.clear_raw_input_contents();
  for (int i = 0; i < 200'000; ++i) request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  Http2Client client(server->port());
  client.OpenInfer(InferRequest("hold"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  const std::thread::id loop = models["hold"]->submit_thread;
  std::string messages;
  for (int i = 0; i < 12; ++i) {
    inference::ModelInferRequest next = i % 4 ? InferRequest("hold") : request;
    next.set_id(std::to_string(i));
    messages += Body(next);
  }
  const int32_t id = client.Open(kPath, messages);
  client.Until([&] { return client.streams[id].sent == messages.size(); });
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 13; }));
  const auto held = models["hold"]->Held();
  for (size_t i = 1; i < held.size(); ++i) EXPECT_EQ(held[i]->request.id, std::to_string(i - 1));
  for (const auto& call : held) call->Respond(EchoModel::Echo(*call));
  TestStream& stream = client.Finish(id);
  EXPECT_EQ(stream.status(), 0);
  EXPECT_EQ(stream.Messages().size(), 12u);
  const int32_t last = client.Open(kPath, Body(request), false);
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 14; }));
  EXPECT_NE(models["hold"]->submit_thread, loop);
  client.Reset(last);
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

// Refuses every request before it is decoded.
class OverloadedModel : public ModelVersion {
 public:
  OverloadedModel() : ModelVersion(EchoModel::MakeConfig("overloaded", EchoModel::Mode::kInline), "1") {}
  bool RefuseIfOverloaded(Call& call) override {
    Response response = EchoModel::Failure(Code::kResourceExhausted, "too much load");
    response.retry_after = std::chrono::milliseconds(1500);
    call.Respond(std::move(response));
    return true;
  }
  void Submit(std::shared_ptr<Call>) override { ADD_FAILURE() << "the request was decoded"; }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }
};

TEST_F(GrpcStreamInferTest, AnOverloadedModelRefusesBeforeTheRequestIsDecoded) {
  registry.Publish("overloaded", {std::make_shared<OverloadedModel>()});
  Http2Client client(server->port());
  const std::string damaged = InferRequest("overloaded").SerializeAsString() + "\xff";
  const TestStream& single = client.Call("ModelInfer", damaged);
  EXPECT_EQ(single.status(), 8);
  EXPECT_EQ(single.headers.at("grpc-retry-pushback-ms"), "1500");
  const TestStream& stream = client.Finish(client.Open(kPath, Frame(damaged) + Body(InferRequest("echo"))));
  EXPECT_EQ(stream.status(), 0);
  ASSERT_EQ(stream.Messages().size(), 2u);
  const auto refused = stream.Parse<ModelStreamInferResponse>(0);
  EXPECT_EQ(refused.error_message(), "too much load");
  EXPECT_EQ(refused.infer_response().id(), "42");
  EXPECT_EQ(stream.Parse<ModelStreamInferResponse>(1).error_message(), "");
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(records[0].model, "overloaded");
}

TEST_F(GrpcStreamInferTest, RecordsEachCall) {
  Http2Client client(server->port());
  client.Finish(client.Open(kPath, Body(InferRequest("echo")) + Body(InferRequest("fail"))));
  const std::lock_guard lock(mutex);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].model, "echo");
  EXPECT_EQ(records[1].status, 14);
}

}  // namespace
}  // namespace tern::server
