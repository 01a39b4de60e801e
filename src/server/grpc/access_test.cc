// Access control over gRPC.
#include "server/access/audit_log.h"
#include "server/access/test_support.h"
#include "server/grpc/access_check.h"
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

constexpr const char* kService = "/inference.GRPCInferenceService/";
constexpr int kDenied = 7, kExhausted = 8, kUnimplemented = 12, kUnauthenticated = 16;

Headers Bearer(const std::string& name) { return {{"authorization", "Bearer " + name + "-token"}}; }

class GrpcAccessTest : public GrpcServerTest {
 protected:
  void SetUp() override { StartWith(AllRoles()); }
  void TearDown() override {
    GrpcServerTest::TearDown();
    access.reset();
  }
  void StartWith(const std::string& entries, GrpcOptions options = {}) {
    server.reset();
    access = OpenAccess(folder, entries);
    context.access = access.get();
    StartServer(options);
  }
  TestStream Call(const std::string& path, const Headers& headers = {}, const std::string& message = "") {
    Http2Client client(server->port());
    return client.Finish(client.Open(path, Frame(message), true, headers));
  }
  int Status(const std::string& method, const std::string& user, const std::string& message = "") {
    return Call(StrCat(kService, method), Bearer(user), message).status();
  }
  TestFolder folder;
  std::unique_ptr<AccessControl> access;
  std::unique_ptr<AuditLog> audit;
};

TEST_F(GrpcAccessTest, EveryMethodNeedsItsRight) {
  const std::map<std::string, Right> expected = {{"ModelInfer", Right::kInfer},
                                                 {"ModelStreamInfer", Right::kInfer},
                                                 {"ServerLive", Right::kHealth},
                                                 {"ServerReady", Right::kHealth},
                                                 {"ModelReady", Right::kDescribe},
                                                 {"ServerMetadata", Right::kDescribe},
                                                 {"ModelMetadata", Right::kDescribe},
                                                 {"ModelConfig", Right::kDescribe},
                                                 {"ModelStatistics", Right::kObserve},
                                                 {"RepositoryIndex", Right::kObserve},
                                                 {"RepositoryModelLoad", Right::kAdmin},
                                                 {"RepositoryModelUnload", Right::kAdmin},
                                                 {"SystemSharedMemoryStatus", Right::kSharedMemory},
                                                 {"SystemSharedMemoryRegister", Right::kSharedMemory},
                                                 {"SystemSharedMemoryUnregister", Right::kSharedMemory},
                                                 {"CudaSharedMemoryStatus", Right::kSharedMemory},
                                                 {"CudaSharedMemoryRegister", Right::kSharedMemory},
                                                 {"CudaSharedMemoryUnregister", Right::kSharedMemory},
                                                 {"TraceSetting", Right::kObserve},
                                                 {"LogSettings", Right::kObserve},
                                                 {"Predict", Right::kInfer},
                                                 {"Classify", Right::kInfer},
                                                 {"Regress", Right::kInfer},
                                                 {"MultiInference", Right::kInfer},
                                                 {"GetModelMetadata", Right::kDescribe},
                                                 {"GetModelStatus", Right::kDescribe},
                                                 {"HandleReloadConfigRequest", Right::kAdmin},
                                                 {"Check", Right::kHealth},
                                                 {"Watch", Right::kHealth},
                                                 {"ServerReflectionInfo", Right::kAny}};
  const std::pair<const char*, Roles> users[] = {
      {"runner", kRoleInfer}, {"watcher", kRoleObserve}, {"mapper", kRoleSharedMemory}, {"boss", kRoleAdmin}};
  for (const RpcMethod& method : AllMethods()) {
    const auto found = expected.find(std::string(method.path.substr(method.path.rfind('/') + 1)));
    ASSERT_NE(found, expected.end()) << "a new method needs a right: " << method.path;
    const Right right = found->second;
    EXPECT_EQ(RightOf(method), right) << method.path;
    if (method.path.ends_with("/Watch")) continue;  // it does not end
    const std::string path(method.path);
    EXPECT_EQ(Call(path).status() == kUnauthenticated, right != Right::kHealth) << path;
    EXPECT_EQ(Call(path, {{"authorization", "Bearer wrong"}}).status() == kUnauthenticated,
              right != Right::kHealth)
        << path;
    for (const auto& [name, roles] : users) {
      const int status = Call(path, Bearer(name)).status();
      EXPECT_NE(status, kUnauthenticated) << path;
      EXPECT_EQ(status == kDenied, !Permits(roles, right)) << name << " " << path;
    }
  }
  EXPECT_EQ(Call(StrCat(kService, "Unknown")).status(), kUnauthenticated);
  EXPECT_EQ(Status("Unknown", "runner"), kUnimplemented);
}

TEST_F(GrpcAccessTest, RefusesBeforeTheMessage) {
  Http2Client client(server->port());
  for (const char* method : {"ModelInfer", "ModelStreamInfer", "RepositoryModelLoad"}) {
    const int32_t id = client.Open(StrCat(kService, method), "", false);
    EXPECT_EQ(client.Finish(id).status(), kUnauthenticated) << method;
    EXPECT_EQ(client.streams[id].message(), "the request has no valid credentials");
  }
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), Bearer("runner"))).status(), 0);
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"))).status(), kUnauthenticated)
      << "an identity is valid for one request";
}

TEST_F(GrpcAccessTest, TakesOnlyOneCleanHeader) {
  const Headers bad[] = {{{"authorization", "Bearer runner-token"}, {"authorization", "Bearer runner-token"}},
                         {{"authorization", "Bearer runner-token "}},
                         {{"authorization", " Bearer runner-token"}},
                         {{"authorization", "Bearer runner-token,Bearer runner-token"}},
                         {{"authorization", "runner-token"}},
                         {{"authorization-bin", "Bearer runner-token"}},
                         {{"x-authorization", "Bearer runner-token"}},
                         {{"proxy-authorization", "Bearer runner-token"}},
                         {{"authorization", "Bearer " + std::string(600, 'x')}},
                         {{"authorization", ""}}};
  for (const Headers& headers : bad) {
    Http2Client client(server->port());
    EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), headers)).status(), kUnauthenticated)
        << headers[0].first << ": " << headers[0].second;
  }
  Http2Client client(server->port());
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"authorization", "bearer runner-token"}}))
                .status(),
            0);
}

TEST_F(GrpcAccessTest, LimitsModelsWhetherOrNotTheyExist) {
  Http2Client client(server->port());
  const TestStream denied = client.Finish(client.OpenInfer(InferRequest("hold"), Bearer("limited")));
  EXPECT_EQ(denied.status(), kDenied);
  const TestStream none = client.Finish(client.OpenInfer(InferRequest("none"), Bearer("limited")));
  EXPECT_EQ(none.status(), kDenied);
  EXPECT_EQ(none.message(), denied.message());
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), Bearer("limited"))).status(), 0);
  // Of a field that occurs twice, the parser takes the last one.
  const std::string twice = InferRequest("echo").SerializeAsString() + std::string("\x0a\x04hold");
  EXPECT_EQ(Status("ModelInfer", "limited", twice), kDenied);
  for (const char* method : {"ModelMetadata", "ModelReady", "ModelConfig", "ModelStatistics"}) {
    EXPECT_EQ(Status(method, "limited", "\x0a\x04hold"), kDenied) << method;
    EXPECT_EQ(Status(method, "limited", "\x0a\x04none"), kDenied) << method;
    EXPECT_EQ(Status(method, "limited", std::string("\x0a\x04") + "echo\x0a\x04none"), kDenied) << method;
    EXPECT_EQ(Status(method, "limited",
                     "\x0a\x04"
                     "echo"),
              0)
        << method;
  }
  // TensorFlow Serving's name is in a message. If that occurs twice, protobuf merges both.
  constexpr const char* kTfs = "/tensorflow.serving.";
  for (const char* method : {"PredictionService/GetModelMetadata", "ModelService/GetModelStatus",
                             "PredictionService/Predict", "PredictionService/Classify"})
    for (const std::string& message :
         {std::string("\x0a\x06\x0a\x04none"), std::string("\x0a\x06\x0a\x04hold"),
          std::string("\x0a\x06\x0a\x04"
                      "echo\x0a\x06\x0a\x04none")})
      EXPECT_EQ(Call(StrCat(kTfs, method), Bearer("limited"), message).status(), kDenied) << method;
  EXPECT_EQ(Status("ModelStatistics", "limited"), kDenied) << "of all models";
  EXPECT_EQ(Status("RepositoryIndex", "limited"), kDenied);
  EXPECT_EQ(Status("LogSettings", "limited"), kDenied);
  EXPECT_EQ(Status("RepositoryModelLoad", "limited", "\x12\x04none"), kDenied);
  EXPECT_EQ(Status("RepositoryModelLoad", "limited", "\x0a\x04none"), kDenied)
      << "the name may be in field 1";
  EXPECT_EQ(Status("RepositoryModelLoad", "limited", std::string("\x0a\x04") + "echo\x12\x04none"), kDenied);
}

TEST_F(GrpcAccessTest, HealthTellsAnonymousClientsNothingAboutModels) {
  constexpr const char* kCheck = "/grpc.health.v1.Health/Check";
  EXPECT_EQ(Call(kCheck).status(), 0);
  EXPECT_EQ(Call(kCheck, {},
                 "\x0a\x04"
                 "echo")
                .status(),
            kUnauthenticated);
  EXPECT_EQ(Call(kCheck, {}, "\x0a\x04none").status(), kUnauthenticated);
  EXPECT_EQ(Call(kCheck, Bearer("runner"),
                 "\x0a\x04"
                 "echo")
                .status(),
            0);
  EXPECT_EQ(Call("/grpc.health.v1.Health/Watch", {},
                 "\x0a\x04"
                 "echo")
                .status(),
            kUnauthenticated);
  EXPECT_EQ(Call("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo").status(), kUnauthenticated);
}

TEST_F(GrpcAccessTest, SettingsNeedAnAdminToChange) {
  const std::string change = "\x0a\x05\x0a\x01x\x12\x00";
  const std::string log(change.data(), 7);
  for (const char* method : {"LogSettings", "TraceSetting"}) {
    EXPECT_NE(Status(method, "watcher"), kDenied) << method;
    EXPECT_EQ(Status(method, "watcher", log), kDenied) << method;
    EXPECT_NE(Status(method, "boss", log), kDenied) << method;
  }
}

TEST_F(GrpcAccessTest, StreamsEndWhenTheTokenIsRevoked) {
  Http2Client client(server->port());
  const int32_t id = client.Open(StrCat(kService, "ModelStreamInfer"),
                                 Frame(InferRequest("echo").SerializeAsString()), false, Bearer("runner"));
  ASSERT_TRUE(client.Until([&] { return client.streams[id].Messages().size() == 1; }));
  const int32_t held = client.Open(StrCat(kService, "ModelStreamInfer"),
                                   Frame(InferRequest("hold").SerializeAsString()), false, Bearer("runner"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  const int32_t watch = client.Open("/grpc.health.v1.Health/Watch", Frame(""), true, Bearer("runner"));
  ASSERT_TRUE(client.Until([&] { return client.streams[watch].Messages().size() == 1; }));
  folder.Write("access.yml", TokenEntry("other", "infer"));
  access->Reload();
  client.Send(id, Frame(InferRequest("echo").SerializeAsString()));
  EXPECT_EQ(client.Finish(id).status(), kUnauthenticated);
  EXPECT_EQ(client.streams[id].Messages().size(), 1u);
  EXPECT_EQ(client.Finish(watch).status(), kUnauthenticated);
  models["hold"]->Held()[0]->Respond({});
  EXPECT_EQ(client.Finish(held).status(), kUnauthenticated) << "also between two responses";
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), Bearer("runner"))).status(),
            kUnauthenticated);
}

TEST_F(GrpcAccessTest, QuotasAreRefusedBeforeTheMessageIsDecoded) {
  StartWith(TokenEntry("slow", "infer", "  quota: {requests_per_s: 0.01, burst: 3}\n") +
            TokenEntry("one", "infer", "  quota: {concurrency: 1}\n") +
            TokenEntry("small", "infer", "  quota: {queued_bytes: 100}\n"));
  Http2Client client(server->port());
  const auto infer = [&](const std::string& user, const inference::ModelInferRequest& request) {
    return client.Finish(client.OpenInfer(request, Bearer(user)));
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(infer("slow", InferRequest("echo")).status(), 0);
  const TestStream refused = infer("slow", InferRequest("echo"));
  EXPECT_EQ(refused.status(), kExhausted);
  EXPECT_GT(std::stoi(refused.headers.at("grpc-retry-pushback-ms")), 10'000);
  EXPECT_EQ(infer("small", InferRequest("echo", 4)).status(), 0);
  EXPECT_EQ(infer("small", InferRequest("echo", 40)).status(), kExhausted);
  const int32_t held = client.OpenInfer(InferRequest("hold"), Bearer("one"));
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 1; }));
  EXPECT_EQ(infer("one", InferRequest("echo")).status(), kExhausted);
  // In a stream, the refusal is the answer to one request.
  const int32_t stream = client.Open(StrCat(kService, "ModelStreamInfer"),
                                     Frame(InferRequest("echo").SerializeAsString()), false, Bearer("one"));
  ASSERT_TRUE(client.Until([&] { return client.streams[stream].Messages().size() == 1; }));
  EXPECT_NE(
      client.streams[stream].Parse<inference::ModelStreamInferResponse>(0).error_message().find("quota"),
      std::string::npos);
  client.Reset(held);
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held()[0]->finished(); }));
  client.Send(stream, Frame(InferRequest("echo").SerializeAsString()), true);
  EXPECT_EQ(client.Finish(stream).status(), 0);
  EXPECT_EQ(client.streams[stream].Parse<inference::ModelStreamInferResponse>(1).error_message(), "");
}

TEST_F(GrpcAccessTest, AdminActionsAreLogged) {
  audit = std::move(*AuditLog::Open({folder.Path("audit.json"), true}));
  context.audit = audit.get();
  StartWith(AllRoles());
  EXPECT_NE(Status("RepositoryModelLoad", "boss",
                   "\x12\x04"
                   "echo"),
            kDenied);
  EXPECT_NE(Status("SystemSharedMemoryUnregister", "mapper", "\x0a\x01r"), kDenied);
  Status("LogSettings", "boss");
  Status("RepositoryModelLoad", "runner",
         "\x12\x04"
         "echo");
  const std::string log = folder.Read("audit.json");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 4) << log;
  for (const char* part :
       {R"("user":"boss","address":"127.0.0.1:)",
        R"("protocol":"grpc","target":"/inference.GRPCInferenceService/RepositoryModelLoad","name":"echo")",
        R"("user":"mapper")", R"("name":"r")"})
    EXPECT_NE(log.find(part), std::string::npos) << part << "\n" << log;
  context.audit = nullptr;
}

TEST_F(GrpcAccessTest, TheTokenIsNotForTheModel) {
  GrpcOptions options;
  options.forward = *HeaderPattern::Compile(".*");
  StartWith(AllRoles(), options);
  Http2Client client(server->port());
  Headers headers = Bearer("runner");
  headers.emplace_back("my-key", "v");
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), headers)).status(), 0);
  const Parameters parameters = models["echo"]->last.parameters;
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].first, "my-key");
  EXPECT_GT(models["echo"]->last.tenant, 0u);
}

}  // namespace
}  // namespace tern::server
