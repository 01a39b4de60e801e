// Restricted operations, and headers that become parameters.
#include "server/http/test_server.h"

namespace tern::server {
namespace {

TEST_F(HttpTest, RestrictedApis) {
  ASSERT_TRUE(options.restrictions.Add("model-repository:admin-key=admin-value", "", "api").ok());
  ASSERT_TRUE(options.restrictions.Add("inference,metadata:infer-key=infer-value", "", "api").ok());
  Start();
  const TestReply refused = Infer(kSmall, "test: 1\r\n");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body, R"({"error":"This API is restricted, expecting header 'infer-key'"})");
  EXPECT_EQ(Infer(kSmall, "infer-key: other\r\n").status, 403);
  EXPECT_EQ(Infer(kSmall, "admin-key: admin-value\r\n").status, 403);
  EXPECT_EQ(Infer(kSmall, "Infer-Key:\tinfer-value \r\n").body, kSmallReply);
  EXPECT_EQ(Send(Get("/v2")).status, 403);
  EXPECT_EQ(Send(Get("/v2/models/echo")).status, 403);
  EXPECT_EQ(Send(Post("/v2/models/echo/generate", "{}")).status, 403);
  EXPECT_EQ(Send(Post("/v2/repository/index", "", "infer-key: infer-value\r\n")).status, 403);
  EXPECT_EQ(Send(Post("/v2/repository/index", "", "admin-key: admin-value\r\n")).status, 200);
  for (const char* open : {"/v2/health/ready", "/v2/models/echo/ready", "/v2/models/stats", "/v2/logging",
                           "/v2/trace/setting", "/v2/models/echo/config"})
    EXPECT_EQ(Send(Get(open)).status, 200) << open;
  TestClient client(server->port());
  std::string text;
  client.Send("GET /v2 HTTP/1.1\r\nHost: x\r\ninfer-key: infer-value\r\n\r\n" + Get("/v2"));
  EXPECT_EQ(ReadReply(client, text).status, 200);
  EXPECT_EQ(ReadReply(client, text).status, 403) << "a header is valid for one request";
}

TEST_F(HttpTest, RestrictedApisAreRefusedBeforeTheBody) {
  ASSERT_TRUE(options.restrictions.Add("inference:key=value", "", "api").ok());
  Start();
  for (const char* fields : {"Content-Length: 1000000\r\n", "Transfer-Encoding: chunked\r\n",
                             "Content-Length: 1000000\r\nExpect: 100-continue\r\n"}) {
    TestClient client(server->port());
    std::string text;
    client.Send(StrCat("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n", fields, "\r\n"));
    const TestReply refused = ReadReply(client, text);
    EXPECT_EQ(refused.status, 403) << fields;
    EXPECT_EQ(refused.Field("Connection"), "close") << fields;
    EXPECT_EQ(client.Read(), "") << fields;
  }
  TestClient client(server->port());
  std::string text;
  client.Send("POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nkey: value\r\nContent-Length: " +
              std::to_string(sizeof kSmall - 1) + "\r\n\r\n");
  client.Send(kSmall);
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
}

TEST_F(HttpTest, EveryRouteHasItsGroup) {
  constexpr const char* kGroups = "health,metadata,inference,shared-memory,model-config,model-repository,";
  ASSERT_TRUE(
      options.restrictions.Add(StrCat(kGroups, "statistics,trace,logging:key=value"), "", "api").ok());
  options.metrics = true;
  Start();
  for (const char* path : {"/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/echo",
                           "/v2/models/echo/ready", "/v2/models/echo/config", "/v2/models/echo/stats",
                           "/v2/models/stats", "/v2/trace/setting", "/v2/models/echo/trace/setting",
                           "/v2/logging", "/v2/systemsharedmemory/status", "/v2/cudasharedmemory/status"})
    EXPECT_EQ(Send(Get(path)).status, 403) << path;
  for (const char* path :
       {"/v2/models/echo/infer", "/v2/models/echo/generate", "/v2/models/echo/generate_stream",
        "/v2/repository/index", "/v2/repository/models/echo/load", "/v2/repository/models/echo/unload",
        "/v2/systemsharedmemory/region/r/register", "/v2/systemsharedmemory/unregister",
        "/v2/cudasharedmemory/region/r/register", "/v2/cudasharedmemory/unregister"})
    EXPECT_EQ(Send(Post(path, "{}")).status, 403) << path;
  EXPECT_EQ(Send(Get("/metrics")).status, 200);
  EXPECT_EQ(Send(Get("/nothing")).status, 404);
}

TEST_F(HttpTest, PreflightsOfRestrictedApis) {
  ASSERT_TRUE(options.restrictions.Add("inference,metadata:my-key=v", "", "api").ok());
  options.cors_origin = "*";
  Start();
  const TestReply preflight = Send("OPTIONS /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_EQ(preflight.Field("Access-Control-Allow-Headers"),
            "Content-Type, Content-Encoding, Inference-Header-Content-Length, traceparent, my-key")
      << "browsers send only these";
  EXPECT_EQ(Infer(kSmall).status, 403);
}

TEST_F(HttpTest, HeadersBecomeParameters) {
  options.forward = *HeaderPattern::Compile("^my-");
  Start();
  const std::string reply = Infer(kSmall, "my-key: my value\r\nother: 1\r\n").body;
  EXPECT_NE(reply.find(R"("parameters":{"my-key":"my value"})"), reply.npos) << reply;
  EXPECT_EQ(Infer(kSmall).body, kSmallReply);
  options.forward = *HeaderPattern::Compile(".*");
  Start();
  EXPECT_EQ(Infer(kSmall, "priority: 1\r\n").status, 400);
}

}  // namespace
}  // namespace tern::server
