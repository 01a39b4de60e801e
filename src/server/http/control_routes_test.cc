// Tests every route except inference, through real sockets.
#include "server/http/control_routes.h"

#include "server/http/test_server.h"

namespace tern::server {
namespace {

TEST_F(HttpTest, HealthAndMetadata) {
  Start();
  EXPECT_EQ(Send(Get("/v2/health/live")).body, "{\"live\":true}");
  EXPECT_EQ(Send(Get("/v2/health/ready")).body, "{\"ready\":true}");
  const TestReply metadata = Send(Get("/v2"));
  EXPECT_EQ(metadata.Field("Content-Type"), "application/json");
  EXPECT_EQ(metadata.body.rfind(R"({"name":"tern","version":"1.0","extensions":["classification",)", 0), 0u);
  context.ready = false;
  const TestReply reply = Send(Get("/v2/health/ready"));
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body, "{\"ready\":false}");
}

TEST_F(HttpTest, HeadHasNoBody) {
  Start();
  TestClient client(server->port());
  client.Send(
      "HEAD /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\nHEAD /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = client.ReadAll();
  EXPECT_EQ(
      all.rfind("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\nHTTP/1.1 404",
                0),
      0u)
      << all;
  EXPECT_EQ(all.substr(all.size() - 4), "\r\n\r\n");
}

TEST_F(HttpTest, ModelRoutes) {
  Start();
  EXPECT_EQ(
      Send(Get("/v2/models/echo")).body,
      R"({"name":"echo","versions":["1"],"platform":"fake","inputs":[{"name":"IN0","datatype":"FP32","shape":[-1,-1]},)"
      R"({"name":"IN1","datatype":"INT32","shape":[-1,2]}],"outputs":[{"name":"OUT0","datatype":"FP32","shape":[-1,-1]}]})");
  EXPECT_EQ(Send(Get("/v2/models/echo/versions/1/ready")).body, R"({"name":"echo","ready":true})");
  EXPECT_EQ(Send(Get("/v2/models/echo/config")).body, R"({"name":"echo"})");
  EXPECT_EQ(Send(Get("/v2/models/%65cho/config?x=1")).body, R"({"name":"echo"})");
  const std::string stats = Send(Get("/v2/models/echo/stats")).body;
  EXPECT_EQ(stats.rfind(
                R"({"model_stats":[{"name":"echo","version":"1","last_inference":0,"inference_count":0,)", 0),
            0u);
  EXPECT_NE(stats.find(R"("memory_usage":[{"type":"CPU","id":0,"byte_size":1234}]})"), stats.npos);
  EXPECT_EQ(Send(Get("/v2/models/stats")).body, stats);
  const TestReply unknown = Send(Get("/v2/models/none"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, R"({"error":"Request for unknown model: 'none' is not found"})");
  EXPECT_EQ(Send(Get("/v2/models/echo/versions/9")).status, 404);
}

TEST_F(HttpTest, Repository) {
  Start();
  EXPECT_EQ(
      Send(Post("/v2/repository/index", "")).body,
      R"([{"name":"echo","version":"1","state":"READY"},{"name":"broken","state":"UNAVAILABLE","reason":"no file"}])");
  EXPECT_EQ(Send(Post("/v2/repository/index", R"({"ready":true})")).body,
            R"([{"name":"echo","version":"1","state":"READY"}])");
  EXPECT_EQ(Send(Post("/v2/repository/index", R"({"ready":1})")).body,
            R"({"error":"Invalid value for 'ready': expected a boolean"})");
  EXPECT_EQ(Send(Post("/v2/repository/models/m/load", "")).status, 200);
  EXPECT_EQ(Send(Post("/v2/repository/models/m/load",
                      R"({"parameters":{"config":"{\"a\":1}","file:1/model.onnx":"QUJD"}})"))
                .status,
            200);
  EXPECT_EQ(
      Send(Post("/v2/repository/models/m/unload", R"({"parameters":{"unload_dependents":true}})")).status,
      200);
  EXPECT_EQ(Send(Post("/v2/repository/models/no/load", "")).status, 503);
  EXPECT_EQ(repository.log, (std::vector<std::string>{"load m ", "load m {\"a\":1} 1/model.onnx=ABC",
                                                      "unload m all", "load no "}));
  EXPECT_EQ(Send(Post("/v2/repository/models/..%2Fx/load", "")).body,
            R"({"error":"model name must not contain path traversal characters"})");
  EXPECT_EQ(Send(Post("/v2/repository/models/m/load", R"({"parameters":{"file:../x":"QUJD"}})")).status, 400);
  EXPECT_EQ(Send(Post("/v2/repository/models/m/load", R"({"parameters":{"file:1/x":"?"}})")).status, 400);
  EXPECT_EQ(Send(Post("/v2/repository/r/models/m/load", "")).status, 501);
}

TEST_F(HttpTest, SharedMemory) {
  Start();
  EXPECT_EQ(Send(Get("/v2/systemsharedmemory/status")).body, "[]");
  EXPECT_EQ(Send(Post("/v2/systemsharedmemory/region/r/register", R"({"key":"/k","byte_size":64})")).status,
            501);
  context.shared_memory = &memory;
  EXPECT_EQ(
      Send(Post("/v2/systemsharedmemory/region/r/register", R"({"key":"/k","byte_size":64,"offset":8})"))
          .status,
      200);
  EXPECT_EQ(Send(Get("/v2/systemsharedmemory/region/r/status")).body,
            R"([{"name":"r","key":"/k","offset":8,"byte_size":64}])");
  EXPECT_EQ(Send(Post("/v2/systemsharedmemory/region/r/register", R"({"key":"/k","byte_size":64})")).status,
            400);
  EXPECT_EQ(Send(Post("/v2/systemsharedmemory/region/q/register", R"({"byte_size":64})")).status, 400);
  EXPECT_EQ(Send(Post("/v2/systemsharedmemory/region/q/register", R"({"key":"/k","byte_size":-1})")).status,
            400);
  std::memcpy(memory.bytes.data(), "\0\0\x80\x3f", 4);
  const TestReply reply = Infer(
      R"({"inputs":[{"name":"IN0","shape":[1,1],"datatype":"FP32","parameters":{"shared_memory_region":"r","shared_memory_byte_size":4}}],)"
      R"("outputs":[{"name":"OUT0","parameters":{"shared_memory_region":"r","shared_memory_offset":16,"shared_memory_byte_size":4}}]})");
  EXPECT_EQ(
      reply.body,
      R"({"model_name":"echo","model_version":"1","outputs":[{"name":"OUT0","datatype":"FP32","shape":[1,1]}]})");
  EXPECT_EQ(std::memcmp(memory.bytes.data() + 16, "\0\0\x80\x3f", 4), 0);
  EXPECT_EQ(Send(Post("/v2/systemsharedmemory/unregister", "")).status, 200);
  EXPECT_EQ(Send(Get("/v2/systemsharedmemory/region/r/status")).status, 404);
  EXPECT_EQ(Send(Get("/v2/cudasharedmemory/status")).body, "[]");
  EXPECT_EQ(Send(Post("/v2/cudasharedmemory/region/c/register", "{}")).body,
            R"({"error":"failed to register CUDA shared memory region: 'c', GPUs not supported"})");
}

TEST_F(HttpTest, SettingsAndMetrics) {
  options.metrics = true;
  Start();
  EXPECT_EQ(Send(Get("/v2/trace/setting")).body, R"({"trace_level":["OFF"],"trace_rate":"1000"})");
  EXPECT_EQ(
      Send(Post("/v2/models/echo/trace/setting", R"({"trace_rate":"1","trace_level":["TIMESTAMPS"]})")).body,
      R"({"trace_level":["TIMESTAMPS"],"trace_rate":"1"})");
  EXPECT_EQ(Send(Post("/v2/trace/setting", R"({"trace_file":"x"})")).status, 501);
  EXPECT_EQ(Send(Post("/v2/trace/setting", R"({"trace_rate":1})")).status, 400);
  EXPECT_EQ(Send(Get("/v2/models/none/trace/setting")).status, 404);
  EXPECT_EQ(Send(Get("/v2/logging")).body, R"({"log_info":true,"log_verbose_level":0})");
  EXPECT_EQ(Send(Post("/v2/logging", R"({"log_info":false,"log_verbose_level":1,"log_file":null})")).body,
            R"({"log_info":false,"log_verbose_level":1})");
  EXPECT_EQ(Send(Post("/v2/logging", R"({"log_file":"x"})")).status, 501);
  const TestReply metrics = Send(Get("/metrics"));
  EXPECT_EQ(metrics.body, "# TYPE x counter\nx 1\n");
  EXPECT_EQ(metrics.Field("Content-Type").rfind("text/plain", 0), 0u);
  auto only = StartMetricsServer(*loops, context, options.listen);
  ASSERT_TRUE(only.ok());
  std::swap(server, *only);
  EXPECT_EQ(Send(Get("/metrics/")).status, 200);
  const TestReply other = Send(Get("/v2/health/live"));
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(other.body, R"({"error":"Not Found; this port serves only GET /metrics"})");
}

TEST_F(HttpTest, RecordsAndTraces) {
  Start();
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  Infer(kSmall, "traceparent: 00-" + trace + "-b7ad6b7169203331-01\r\n");
  EXPECT_EQ(echo->last_trace.trace_id, trace);
  EXPECT_EQ(echo->last_trace.parent_id, "b7ad6b7169203331");
  EXPECT_TRUE(echo->last_trace.sampled);
  Send(Get("/nowhere"));
  const std::lock_guard lock(observer.mutex);
  ASSERT_EQ(observer.records.size(), 2u);
  EXPECT_EQ(observer.records[0].rfind("POST /v2/models/echo/infer 200 echo 7 ", 0), 0u);
  EXPECT_NE(observer.records[0].find(trace), std::string::npos);
  EXPECT_EQ(observer.records[1], "GET /nowhere 404   34 ");
}

TEST_F(HttpTest, CorsAndBasePath) {
  options.cors_origin = "https://a.example";
  options.base_path = "/tern";
  Start();
  const TestReply missing = Send(Get("/v2/health/live"));
  EXPECT_EQ(missing.status, 404);
  EXPECT_NE(missing.body.find("; GET /tern/v2/health/live tells whether the server runs, GET /tern/v2"),
            std::string::npos)
      << missing.body;
  const TestReply reply = Send(Get("/tern/v2/health/live"));
  EXPECT_EQ(reply.body, "{\"live\":true}");
  EXPECT_EQ(reply.Field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(Send("OPTIONS /tern/v2/models/echo/infer HTTP/1.1\r\nHost: x\r\n\r\n").status, 204);
  options.base_path = "tern";
  EXPECT_FALSE(HttpServer::Start(*loops, context, options).ok());
}

}  // namespace
}  // namespace tern::server
