#include "server/load/load.h"

#include <gtest/gtest.h>

#include "server/load/fake_server.h"
#include "server/load/payload.h"
#include "server/load/proto_text.h"

namespace tern::server::loadgen {
namespace {

constexpr const char* kMetadata =
    R"({"name":"m","versions":["1"],"inputs":[{"name":"x","datatype":"FP32","shape":[-1,3]}],"outputs":[]})";

std::string Answers(const std::string& request) {
  if (StartsWith(request, "GET /v2/models/m ")) return OkReply(kMetadata);
  if (StartsWith(request, "POST /v2/models/m/infer ")) return OkReply("{}");
  return "HTTP/1.1 404 Not Found\r\nContent-Length: 18\r\n\r\n{\"error\":\"no one\"}";
}

LoadCommand Command(const FakeServer& server) {
  LoadCommand c;
  c.url = StrCat("127.0.0.1:", server.port());
  c.model = "m";
  c.seconds = 0.3;
  c.warmup_seconds = 0.05;
  return c;
}

TEST(Load, ClosedLoopCountsAnswers) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  command.concurrency = 3;
  const auto report = RunLoad(command);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  const LoadStep& step = report->steps.at(0);
  EXPECT_GT(step.answers, 10u);
  EXPECT_EQ(step.answers, step.requests);
  EXPECT_EQ(step.errors, 0u);
  EXPECT_NEAR(step.throughput, static_cast<double>(step.answers) / 0.3, 30);
  EXPECT_LE(step.p50_ms, step.p99_ms);
  EXPECT_LE(step.p99_ms, step.max_ms);
  EXPECT_GE(server.requests(), static_cast<int>(step.answers));
}

TEST(Load, GoodputCountsAnswersWithinTheGoal) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  const auto all = RunLoad(command);
  ASSERT_TRUE(all.ok()) << all.status().ToString();
  EXPECT_GT(all->steps.at(0).goodput, 0);
  EXPECT_EQ(all->steps.at(0).goodput, all->steps.at(0).throughput);
  command.goal_ms = 1e-6;  // no answer takes less than 1 ns
  const auto none = RunLoad(command);
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_GT(none->steps.at(0).throughput, 0);
  EXPECT_EQ(none->steps.at(0).goodput, 0);
}

TEST(Load, RefusalsHaveALatency) {
  FakeServer server([](const std::string& request) {
    if (StartsWith(request, "GET ")) return Answers(request);
    return std::string("HTTP/1.1 429 Too Many Requests\r\nContent-Length: 16\r\n\r\n{\"error\":\"full\"}");
  });
  const auto report = RunLoad(Command(server));
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  const LoadStep& step = report->steps.at(0);
  EXPECT_GT(step.refused, 0u);
  EXPECT_EQ(step.refused, step.errors);
  EXPECT_GT(step.refused_p99_ms, 0);
  EXPECT_EQ(step.goodput, 0);
}

TEST(Load, OpenLoopKeepsItsRate) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  command.rates = {400};
  command.seconds = 1;
  const auto report = RunLoad(command);
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  const LoadStep& step = report->steps.at(0);
  EXPECT_NEAR(static_cast<double>(step.requests), 400, 100);
  EXPECT_EQ(step.answers, step.requests);
  EXPECT_EQ(step.errors, 0u);
}

// The server answers one request at a time and stalls once. The latency of a request that is due during the
// stall must include its wait.
TEST(Load, StallsAreNotOmitted) {
  std::atomic<int> count{0};
  std::mutex one;
  FakeServer server([&](const std::string& request) {
    const std::lock_guard<std::mutex> lock(one);
    if (StartsWith(request, "POST") && ++count == 60)
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return Answers(request);
  });
  LoadCommand command = Command(server);
  command.rates = {200};
  command.seconds = 1;
  command.max_connections = 1;
  const auto report = RunLoad(command);
  ASSERT_TRUE(report.ok());
  EXPECT_GT(report->steps[0].p95_ms, 50);
  EXPECT_LT(report->steps[0].p50_ms, 50);
}

TEST(Load, CountsErrorsAndRefusals) {
  FakeServer server([](const std::string& request) {
    if (StartsWith(request, "GET")) return Answers(request);
    return std::string("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\nno");
  });
  const auto report = RunLoad(Command(server));
  ASSERT_TRUE(report.ok());
  const LoadStep& step = report->steps[0];
  EXPECT_EQ(step.errors, step.answers);
  EXPECT_EQ(step.refused, step.errors);
  EXPECT_EQ(step.throughput, 0);
  EXPECT_EQ(step.messages.begin()->first, "HTTP 503: no");
}

TEST(Load, ReconnectsWhenTheServerCloses) {
  std::atomic<int> count{0};
  FakeServer server([&](const std::string& request) {
    return StartsWith(request, "POST") && ++count % 3 == 0 ? std::string() : Answers(request);
  });
  const auto report = RunLoad(Command(server));
  ASSERT_TRUE(report.ok());
  EXPECT_GT(report->steps[0].errors, 0u);
  EXPECT_GT(report->steps[0].answers, report->steps[0].errors);
}

TEST(Load, ReadsChunkedAnswers) {
  FakeServer server([](const std::string& request) {
    if (StartsWith(request, "GET")) {
      std::string text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
      for (const char c : std::string(kMetadata)) text += StrCat("1\r\n", c, "\r\n");
      return text + "0\r\n\r\n";
    }
    return Answers(request);
  });
  const auto report = RunLoad(Command(server));
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->steps[0].errors, 0u);
}

// The server answers one request per 100 ms, but 200 per second are due. The load test must still end soon
// after its duration.
TEST(Load, OverloadEnds) {
  FakeServer server([](const std::string& request) {
    if (StartsWith(request, "POST")) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return Answers(request);
  });
  LoadCommand command = Command(server);
  command.rates = {200};
  command.max_connections = 1;
  command.timeout_seconds = 0.5;
  const auto begin = std::chrono::steady_clock::now();
  const auto report = RunLoad(command);
  ASSERT_TRUE(report.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_GT(report->steps[0].errors, 20u);
  EXPECT_EQ(report->steps[0].answers, report->steps[0].requests);
}

TEST(Load, StopsWhenAsked) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  command.seconds = 60;
  const auto begin = std::chrono::steady_clock::now();
  command.stop = [begin] {
    return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(200);
  };
  ASSERT_TRUE(RunLoad(command).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(Load, FailsForUnknownModelsAndServers) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  command.model = "other";
  EXPECT_NE(RunLoad(command).status().message().find("no one"), std::string::npos);
  command.url = "127.0.0.1:1";
  EXPECT_EQ(RunLoad(command).status().code(), Code::kIo);
  command.grpc = true;
  EXPECT_FALSE(RunLoad(command).ok());
}

TEST(Load, RefusesInputsThatTheModelLacks) {
  FakeServer server(Answers);
  LoadCommand command = Command(server);
  command.shapes["y"] = {1};
  EXPECT_NE(RunLoad(command).status().message().find("its inputs are: x"), std::string::npos);
  command.shapes = {{"x", {int64_t{1} << 40, int64_t{1} << 40}}};
  EXPECT_FALSE(RunLoad(command).ok());
}

TEST(Payload, HttpRequestHasJsonThenBytes) {
  LoadCommand command;
  command.model = "a/b";
  std::vector<InputTensor> inputs = {{"x", "FP32", {2}, std::string(8, 'z'), {}}};
  const std::string text = InferRequest({"h", 8000, "/"}, command, inputs, nullptr).bytes;
  EXPECT_TRUE(StartsWith(text, "POST /v2/models/a%2Fb/infer HTTP/1.1\r\n")) << text;
  EXPECT_TRUE(EndsWith(text, "}zzzzzzzz")) << text;
  EXPECT_NE(text.find(R"("parameters":{"binary_data_size":8})"), std::string::npos);
}

TEST(Payload, StringsHaveTheirLengths) {
  const std::string bytes = WireBytes(Tensor::Strings({2}, {"a", "bcd"}));
  EXPECT_EQ(bytes, std::string("\1\0\0\0a\3\0\0\0bcd", 12));
}

TEST(ModelFacts, ParsesProtobuf) {
  std::string tensor, packed, message;
  AppendField(1, "x", tensor);
  AppendField(2, "INT64", tensor);
  AppendVarint(static_cast<uint64_t>(int64_t{-1}), packed);
  AppendVarint(300, packed);
  AppendField(3, packed, tensor);
  AppendField(1, "m", message);
  AppendField(4, tensor, message);
  const auto facts = ParseProtoMetadata(message);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->inputs.at(0).datatype, "INT64");
  EXPECT_EQ(facts->inputs[0].shape, (Dims{-1, 300}));
  for (size_t n = 1; n < message.size(); ++n)
    (void)ParseProtoMetadata(message.substr(0, n));  // must not crash
  EXPECT_FALSE(ParseProtoMetadata(message.substr(0, message.size() - 1)).ok());
}

TEST(ModelFacts, RefusesDamagedJson) {
  for (const char* bad :
       {"", "[]", "{", R"({"inputs":[{}]})", R"({"inputs":[{"name":"x","datatype":"FP32","shape":["a"]}]})"})
    EXPECT_FALSE(ParseJsonMetadata(bad).ok()) << bad;
}

}  // namespace
}  // namespace tern::server::loadgen
