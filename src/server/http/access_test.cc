// Access control over HTTP.
#include "server/access/audit_log.h"
#include "server/access/test_support.h"
#include "server/http/route.h"
#include "server/http/test_server.h"

namespace tern::server {
namespace {

std::string Bearer(const std::string& name) { return "Authorization: Bearer " + name + "-token\r\n"; }

class HttpAccessTest : public HttpTest {
 protected:
  ~HttpAccessTest() override {
    server.reset();  // before what it uses
    loops.reset();
  }
  void StartWith(const std::string& entries, AccessOptions access_options = {}) {
    access = OpenAccess(folder, entries, access_options);
    context.access = access.get();
    context.shared_memory = &memory;
    Start();
  }
  static std::string Request(const std::string& method, const std::string& path, const std::string& fields,
                             const std::string& body = "") {
    return method + " " + path + " HTTP/1.1\r\nHost: x\r\n" + fields +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  AccessFolder folder;
  std::unique_ptr<AccessControl> access;
  std::unique_ptr<AuditLog> audit;
};

struct Expected {
  Right right;
  const char *method, *path;
};

// A new route does not compile until it has its right here.
std::optional<Expected> RightOfRoute(RouteKind kind) {
  switch (kind) {
    case RouteKind::kNotFound:
      return Expected{Right::kAny, "GET", "/nothing"};
    case RouteKind::kBadTarget:
      return Expected{Right::kAny, "GET", "/v2/models/%zz"};
    case RouteKind::kServerMetadata:
      return Expected{Right::kDescribe, "GET", "/v2"};
    case RouteKind::kLive:
      return Expected{Right::kHealth, "GET", "/v2/health/live"};
    case RouteKind::kReady:
      return Expected{Right::kHealth, "GET", "/v2/health/ready"};
    case RouteKind::kModelMetadata:
      return Expected{Right::kDescribe, "GET", "/v2/models/echo"};
    case RouteKind::kModelReady:
      return Expected{Right::kDescribe, "GET", "/v2/models/echo/ready"};
    case RouteKind::kModelConfig:
      return Expected{Right::kDescribe, "GET", "/v2/models/echo/config"};
    case RouteKind::kModelStats:
      return Expected{Right::kObserve, "GET", "/v2/models/echo/stats"};
    case RouteKind::kInfer:
      return Expected{Right::kInfer, "POST", "/v2/models/echo/infer"};
    case RouteKind::kGenerate:
      return Expected{Right::kInfer, "POST", "/v2/models/echo/generate"};
    case RouteKind::kGenerateStream:
      return Expected{Right::kInfer, "POST", "/v2/models/echo/generate_stream"};
    case RouteKind::kTrace:
      return Expected{Right::kObserve, "GET", "/v2/trace/setting"};
    case RouteKind::kLogging:
      return Expected{Right::kObserve, "GET", "/v2/logging"};
    case RouteKind::kIndex:
      return Expected{Right::kObserve, "POST", "/v2/repository/index"};
    case RouteKind::kLoad:
      return Expected{Right::kAdmin, "POST", "/v2/repository/models/echo/load"};
    case RouteKind::kUnload:
      return Expected{Right::kAdmin, "POST", "/v2/repository/models/echo/unload"};
    case RouteKind::kRollout:
      return Expected{Right::kObserve, "GET", "/v2/repository/models/echo/rollout"};
    case RouteKind::kSystemMemoryStatus:
      return Expected{Right::kSharedMemory, "GET", "/v2/systemsharedmemory/status"};
    case RouteKind::kSystemMemoryRegister:
      return Expected{Right::kSharedMemory, "POST", "/v2/systemsharedmemory/region/r/register"};
    case RouteKind::kSystemMemoryUnregister:
      return Expected{Right::kSharedMemory, "POST", "/v2/systemsharedmemory/unregister"};
    case RouteKind::kCudaMemoryStatus:
      return Expected{Right::kSharedMemory, "GET", "/v2/cudasharedmemory/status"};
    case RouteKind::kCudaMemoryRegister:
      return Expected{Right::kSharedMemory, "POST", "/v2/cudasharedmemory/region/r/register"};
    case RouteKind::kCudaMemoryUnregister:
      return Expected{Right::kSharedMemory, "POST", "/v2/cudasharedmemory/unregister"};
    case RouteKind::kMetrics:
      return Expected{Right::kObserve, "GET", "/metrics"};
    case RouteKind::kOpenAiModels:
      return Expected{Right::kDescribe, "GET", "/v1/models"};
    case RouteKind::kOpenAiCompletions:
      return Expected{Right::kInfer, "POST", "/v1/completions"};
    case RouteKind::kOpenAiChat:
      return Expected{Right::kInfer, "POST", "/v1/chat/completions"};
    case RouteKind::kOpenAiEmbeddings:
      return Expected{Right::kInfer, "POST", "/v1/embeddings"};
    case RouteKind::kTfsPredict:
      return Expected{Right::kInfer, "POST", "/v1/models/echo:predict"};
    case RouteKind::kTfsClassify:
      return Expected{Right::kInfer, "POST", "/v1/models/echo:classify"};
    case RouteKind::kTfsRegress:
      return Expected{Right::kInfer, "POST", "/v1/models/echo:regress"};
    case RouteKind::kTfsStatus:
      return Expected{Right::kDescribe, "GET", "/v1/models/echo"};
    case RouteKind::kTfsMetadata:
      return Expected{Right::kDescribe, "GET", "/v1/models/echo/metadata"};
  }
  return {};
}

TEST_F(HttpAccessTest, EveryRouteNeedsItsRight) {
  options.metrics = true;
  StartWith(AllRoles());
  const std::pair<const char*, Roles> users[] = {
      {"runner", kRoleInfer}, {"watcher", kRoleObserve}, {"mapper", kRoleSharedMemory}, {"boss", kRoleAdmin}};
  for (int i = 0; i < 256; ++i) {
    const auto expected = RightOfRoute(static_cast<RouteKind>(i));
    if (!expected) continue;
    const auto status = [&](const std::string& fields) {
      return Send(Request(expected->method, expected->path, fields, "{}")).status;
    };
    EXPECT_EQ(ParseRoute(expected->path).kind, static_cast<RouteKind>(i)) << expected->path;
    EXPECT_EQ(status("") == 401, expected->right != Right::kHealth) << expected->path;
    // After many wrong tokens, the address gets 429.
    const int wrong = status("Authorization: Bearer wrong\r\n");
    EXPECT_EQ(wrong == 401 || wrong == 429, expected->right != Right::kHealth)
        << expected->path << " " << wrong;
    for (const auto& [name, roles] : users)
      EXPECT_EQ(status(Bearer(name)) == 403, !Permits(roles, expected->right))
          << name << " " << expected->path;
  }
  for (const char* path : {"/v2/trace/setting", "/v2/logging", "/v2/models/echo/trace/setting",
                           "/v2/repository/models/echo/rollout"}) {
    EXPECT_EQ(Send(Request("POST", path, Bearer("watcher"), "{}")).status, 403) << path;
    EXPECT_NE(Send(Request("POST", path, Bearer("boss"), "{}")).status, 403) << path;
  }
}

TEST_F(HttpAccessTest, RefusalsAreTheSameForEveryModelAndToken) {
  StartWith(AllRoles());
  const TestReply missing = Send(Get("/v2/models/none"));
  EXPECT_EQ(missing.status, 401);
  EXPECT_EQ(missing.Field("WWW-Authenticate"), "Bearer realm=\"tern\"");
  EXPECT_EQ(missing.body, R"({"error":"the request has no valid credentials"})");
  for (const char* path : {"/v2/models/echo", "/v2/models/none", "/nothing", "/v2/models/echo/infer"})
    for (const char* wrong : {"", "Authorization: Bearer wrong\r\n", "Authorization: Bearer old-token\r\n",
                              "Authorization: Basic YTpi\r\n"}) {
      const TestReply reply = Send(Request("GET", path, wrong));
      EXPECT_EQ(reply.status, 401) << path << wrong;
      EXPECT_EQ(reply.body, missing.body);
    }
  EXPECT_EQ(Send(Request("GET", "/v2", "Authorization: Bearer x\r\n")).Field("WWW-Authenticate"),
            "Bearer realm=\"tern\", error=\"invalid_token\"");
  const TestReply denied = Send(Request("GET", "/v2/models/other", Bearer("limited")));
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(Send(Request("GET", "/v2/models/none", Bearer("limited"))).body, denied.body);
  Add(Config("other"), Mode::kInline);
  EXPECT_EQ(Send(Request("GET", "/v2/models/other", Bearer("limited"))).body, denied.body);
  EXPECT_EQ(Send(Request("GET", "/v2/models/echo", Bearer("limited"))).status, 200);
  EXPECT_EQ(Send(Request("GET", "/v2/models/echo%2D", Bearer("limited"))).status, 404);
  for (const char* path : {"/v2/models/stats", "/v2/trace/setting", "/v2/logging"})
    EXPECT_EQ(Send(Request("GET", path, Bearer("limited"))).status, 403) << path;
}

TEST_F(HttpAccessTest, RefusesBeforeTheBody) {
  StartWith(AllRoles());
  for (const char* fields :
       {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 99999999999\r\n",
        "Content-Length: 1000000\r\nExpect: 100-continue\r\n"}) {
    TestClient client(server->port());
    std::string text;
    client.Send(StrCat("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n", fields, "\r\n"));
    const TestReply refused = ReadReply(client, text);
    EXPECT_EQ(refused.status, 401) << fields;
    EXPECT_EQ(refused.Field("Connection"), "close") << fields;
    EXPECT_EQ(client.Read(), "") << fields;
  }
}

TEST_F(HttpAccessTest, AnIdentityIsValidForOneRequest) {
  StartWith(AllRoles());
  TestClient client(server->port());
  std::string text;
  client.Send(Request("POST", "/v2/models/echo/infer", Bearer("runner"), kSmall) + Get("/v2") +
              Request("GET", "/v2", Bearer("watcher")) +
              Request("POST", "/v2/models/echo/infer", "", kSmall));
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
  EXPECT_EQ(ReadReply(client, text).status, 401);
  EXPECT_EQ(ReadReply(client, text).status, 200);
  EXPECT_EQ(ReadReply(client, text).status, 401);
  EXPECT_EQ(echo->submitted, 1);
}

TEST_F(HttpAccessTest, WorksTogetherWithRestrictedApis) {
  ASSERT_TRUE(options.restrictions.Add("inference,metrics:my-key=v", "", "api").ok());
  options.metrics = true;
  StartWith(AllRoles());
  const auto infer = [&](const std::string& fields) {
    return Send(Request("POST", "/v2/models/echo/infer", fields, kSmall)).status;
  };
  EXPECT_EQ(infer("my-key: v\r\n"), 401);
  EXPECT_EQ(infer(Bearer("runner")), 403);
  EXPECT_EQ(infer(Bearer("runner") + "my-key: v\r\n"), 200);
  EXPECT_EQ(Send(Request("GET", "/metrics", Bearer("watcher"))).status, 403);
  EXPECT_EQ(Send(Request("GET", "/metrics", Bearer("watcher") + "my-key: v\r\n")).status, 200);
}

TEST_F(HttpAccessTest, TheTokenIsNotForTheModel) {
  options.forward = *HeaderPattern::Compile(".*");
  StartWith(AllRoles());
  const std::string reply =
      Send(Request("POST", "/v2/models/echo/infer", Bearer("runner") + "my-key: v\r\n", kSmall)).body;
  EXPECT_NE(reply.find("my-key"), std::string::npos) << reply;
  EXPECT_EQ(reply.find("runner-token"), std::string::npos) << reply;
}

TEST_F(HttpAccessTest, SharedMemoryNeedsItsRole) {
  StartWith(AllRoles() + TokenEntry("both", "infer, shared-memory"));
  memory.regions["r"] = {"r", "/r", 0, 256};
  const std::string body =
      R"({"inputs":[{"name":"IN0","shape":[1,2],"datatype":"FP32","parameters":{"shared_memory_region":"r","shared_memory_byte_size":8}}]})";
  const TestReply refused = Send(Request("POST", "/v2/models/echo/infer", Bearer("runner"), body));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("shared memory of clients is off"), std::string::npos) << refused.body;
  EXPECT_EQ(Send(Request("POST", "/v2/models/echo/infer", Bearer("both"), body)).status, 200);
}

TEST_F(HttpAccessTest, QuotasAreRefusedBeforeTheBodyIsDecoded) {
  StartWith(TokenEntry("slow", "infer", "  quota: {requests_per_s: 0.01, burst: 2}\n") +
            TokenEntry("one", "infer", "  quota: {concurrency: 1}\n") +
            TokenEntry("small", "infer", "  quota: {queued_bytes: 100}\n"));
  TestClient client(server->port());
  std::string text;
  for (int i = 0; i < 2; ++i) {
    client.Send(Request("POST", "/v2/models/echo/infer", Bearer("slow"), kSmall));
    EXPECT_EQ(ReadReply(client, text).status, 200);
  }
  for (int i = 0; i < 3; ++i) {
    client.Send(Request("POST", "/v2/models/echo/infer", Bearer("slow"), "{ not JSON"));
    const TestReply refused = ReadReply(client, text);
    EXPECT_EQ(refused.status, 429);
    EXPECT_GT(std::stoi("0" + refused.Field("Retry-After")), 10);
    EXPECT_EQ(refused.Field("Connection"), "") << "the connection stays";
  }
  // The body of a refused request is read and not kept.
  const std::string late =
      Request("POST", "/v2/models/echo/infer", Bearer("slow"), std::string(200'000, 'x'));
  client.Send(late.substr(0, 150'000));
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
  client.Send(late.substr(150'000));
  EXPECT_EQ(ReadReply(client, text).status, 429);
  EXPECT_EQ(Send(Request("POST", "/v2/models/echo/infer", Bearer("small"), std::string(101, ' '))).status,
            429);
  EXPECT_EQ(Send(Request("POST", "/v2/models/echo/infer", Bearer("small"), "{}")).status, 400);
  const std::string chunked = "POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n" + Bearer("small") +
                              "Transfer-Encoding: chunked\r\n\r\n70\r\n" + std::string(0x70, ' ') +
                              "\r\n0\r\n\r\n";
  EXPECT_EQ(Send(chunked).status, 429);
}

TEST_F(HttpAccessTest, APlaceInFlightIsGivenBack) {
  const auto held = Add(Config("hold"), Mode::kHold);
  StartWith(TokenEntry("one", "infer", "  quota: {concurrency: 1}\n"));
  const std::string request = Request("POST", "/v2/models/hold/infer", Bearer("one"), kSmall);
  TestClient client(server->port());
  std::string text;
  client.Send(request);
  ASSERT_TRUE(Eventually([&] { return held->submitted == 1; }));
  const TestReply refused = Send(request);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.body, R"({"error":"the quota of this client is used up: 1 requests at the same time"})");
  held->Release();
  EXPECT_EQ(ReadReply(client, text).status, 200);
  // So does a client that disconnects, and a request that is not valid.
  client.Send(request);
  ASSERT_TRUE(Eventually([&] { return held->submitted == 2; }));
  client.Close();
  ASSERT_TRUE(Eventually([&] { return held->cancelled == 1; }));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(Send(Request("POST", "/v2/models/hold/infer", Bearer("one"), "{")).status, 400);
  EXPECT_EQ(Send(Request("GET", "/v2/models/hold/infer", Bearer("one"))).status, 405);
  EXPECT_EQ(Send(Request("POST", "/v2/models/none/infer", Bearer("one"), "{}")).status, 404);
  held->Release();
  TestClient last(server->port());
  last.Send(request);
  EXPECT_TRUE(Eventually([&] { return held->submitted == 3; }));
  held->Release();
}

// Responds when the test says so.
class Stepper : public ModelVersion {
 public:
  explicit Stepper(ModelConfig config) : ModelVersion(std::move(config), "1") {}
  void Submit(std::shared_ptr<Call> call) override {
    call->OnCancel([this] { cancelled = true; });
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
  }
  std::shared_ptr<Call> call() {
    const std::lock_guard lock(mutex_);
    return call_;
  }
  void Finish() {
    call()->Respond({});
    const std::lock_guard lock(mutex_);
    call_ = nullptr;
  }
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }
  std::atomic<bool> cancelled{false};

 private:
  std::mutex mutex_;
  std::shared_ptr<Call> call_;
};

TEST_F(HttpAccessTest, ALongStreamEndsWhenItsTokenIsRevoked) {
  ModelConfig config = Config("llm");
  config.max_batch_size = 0;
  const auto stepper = std::make_shared<Stepper>(config);
  registry.Publish("llm", {stepper});
  StartWith(AllRoles());
  TestClient client(server->port());
  client.Send(Request("POST", "/v2/models/llm/generate_stream", Bearer("runner"), R"({"IN0":[1]})"));
  ASSERT_TRUE(Eventually([&] { return stepper->call() != nullptr; }));
  Response event;
  event.final = false;
  stepper->call()->Respond(event);
  EXPECT_NE(client.Read().find("200 OK"), std::string::npos);
  folder.Write("access.yml", TokenEntry("other", "infer"));
  access->Reload();
  stepper->call()->Respond(event);
  std::string rest;
  while (rest.find("\r\n0\r\n\r\n") == rest.npos) {
    const std::string more = client.Read();
    if (more.empty()) break;
    rest += more;
  }
  EXPECT_NE(rest.find("the credentials of this request are no longer valid"), std::string::npos) << rest;
  EXPECT_TRUE(Eventually([&] { return stepper->cancelled.load(); })) << "the model need not go on";
  stepper->Finish();
}

TEST_F(HttpAccessTest, AdminActionsAreLogged) {
  audit = std::move(*AuditLog::Open({folder.Path("audit.json"), true}));
  context.audit = audit.get();
  StartWith(AllRoles());
  EXPECT_EQ(Send(Request("POST", "/v2/repository/models/m/load", Bearer("boss"),
                         R"({"parameters":{"config":"{}"}})"))
                .status,
            200);
  EXPECT_EQ(Send(Request("POST", "/v2/repository/models/no/load", Bearer("boss"))).status, 503);
  EXPECT_EQ(Send(Request("POST", "/v2/logging", Bearer("boss"), R"({"log_info":false})")).status, 200);
  EXPECT_EQ(Send(Request("POST", "/v2/systemsharedmemory/region/r/register", Bearer("mapper"),
                         R"({"key":"/k","byte_size":8})"))
                .status,
            200);
  EXPECT_EQ(Send(Request("GET", "/v2/logging", Bearer("boss"))).status, 200) << "not logged";
  EXPECT_EQ(Send(Request("POST", "/v2/repository/models/m/load", Bearer("runner"))).status, 403)
      << "not logged";
  const std::string log = folder.Read("audit.json");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 8);
  for (const char* part :
       {R"("user":"boss","address":"127.0.0.1:)", R"("target":"/v2/repository/models/m/load","name":"m")",
        R"("status":503,"error":"explicit model load)", R"("detail":"{\"log_info\":false}")",
        R"("user":"mapper")", R"("name":"r")"})
    EXPECT_NE(log.find(part), std::string::npos) << part << "\n" << log;
}

TEST_F(HttpAccessTest, AnActionThatCannotBeLoggedIsRefused) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "the system has no /dev/full";
  audit = std::move(*AuditLog::Open({"/dev/full", true}));
  context.audit = audit.get();
  Start();
  EXPECT_EQ(Send(Post("/v2/repository/models/m/load", "")).status, 503);
  EXPECT_TRUE(repository.log.empty());
  EXPECT_EQ(Send(Post("/v2/repository/index", "")).status, 200);
}

TEST_F(HttpAccessTest, PreflightsNeedNoTokenAndTellNothing) {
  options.cors_origin = "*";
  StartWith(AllRoles());
  const TestReply preflight = Send("OPTIONS /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_NE(preflight.Field("Access-Control-Allow-Headers").find("Authorization"), std::string::npos);
  const TestReply other = Send("OPTIONS /v2/models/none/infer HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(other.head, preflight.head);
  const TestReply posted =
      Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nOrigin: a\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(posted.status, 401);
}

}  // namespace
}  // namespace tern::server
