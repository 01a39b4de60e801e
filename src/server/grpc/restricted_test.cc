// Restricted operations, and headers that become parameters.
#include "server/grpc/test_support.h"

namespace tern::server {
namespace {

constexpr const char* kServicePrefix = "/inference.GRPCInferenceService/";

class GrpcRestrictedTest : public GrpcServerTest {
 protected:
  void Restrict(const std::string& text) {
    GrpcOptions options;
    ASSERT_TRUE(options.restrictions.Add(text, "triton-grpc-protocol-", "protocol").ok());
    StartServer(options);
  }
  TestStream Call(const std::string& path, const Headers& headers = {}) {
    Http2Client client(server->port());
    return client.Finish(client.Open(path, Frame(""), true, headers));
  }
};

TEST_F(GrpcRestrictedTest, NeedTheirHeader) {
  Restrict("inference,health:infer-key=infer-value");
  const Headers right = {{"triton-grpc-protocol-infer-key", "infer-value"}};
  const TestStream refused = Call(StrCat(kServicePrefix, "ServerLive"));
  EXPECT_EQ(refused.status(), 14);
  EXPECT_EQ(refused.message(),
            "This protocol is restricted, expecting header 'triton-grpc-protocol-infer-key'");
  EXPECT_EQ(Call(StrCat(kServicePrefix, "ServerLive"), {{"infer-key", "infer-value"}}).status(), 14);
  EXPECT_EQ(Call(StrCat(kServicePrefix, "ServerLive"), right).status(), 0);
  EXPECT_EQ(Call("/grpc.health.v1.Health/Check").status(), 14);
  EXPECT_EQ(Call("/grpc.health.v1.Health/Check", right).status(), 0);
  EXPECT_EQ(Call(StrCat(kServicePrefix, "ServerMetadata")).status(), 0) << "not restricted";
  Http2Client client(server->port());
  const auto request = InferRequest("echo");
  EXPECT_EQ(client.Finish(client.OpenInfer(request)).status(), 14);
  EXPECT_EQ(client.Finish(client.OpenInfer(request, right)).status(), 0);
  // The stream ends before the client sends anything.
  const int32_t id = client.Open(StrCat(kServicePrefix, "ModelStreamInfer"), "", false);
  EXPECT_EQ(client.Finish(id).status(), 14);
}

TEST_F(GrpcRestrictedTest, EveryMethodHasItsGroup) {
  Restrict(
      "health,metadata,inference,shared-memory,model-config,model-repository,statistics,trace,logging:k=v");
  for (const char* method : {"ModelInfer",
                             "ModelStreamInfer",
                             "ServerLive",
                             "ServerReady",
                             "ModelReady",
                             "ServerMetadata",
                             "ModelMetadata",
                             "ModelConfig",
                             "ModelStatistics",
                             "RepositoryIndex",
                             "RepositoryModelLoad",
                             "RepositoryModelUnload",
                             "SystemSharedMemoryStatus",
                             "SystemSharedMemoryRegister",
                             "SystemSharedMemoryUnregister",
                             "CudaSharedMemoryStatus",
                             "CudaSharedMemoryRegister",
                             "CudaSharedMemoryUnregister",
                             "TraceSetting",
                             "LogSettings"})
    EXPECT_EQ(Call(StrCat(kServicePrefix, method)).status(), 14) << method;
  EXPECT_EQ(Call(StrCat(kServicePrefix, "Unknown")).status(), 12);
}

TEST_F(GrpcRestrictedTest, HeadersBecomeParameters) {
  GrpcOptions options;
  options.forward = *HeaderPattern::Compile(".*");
  StartServer(options);
  Http2Client client(server->port());
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"my-key", "my-value"}})).status(), 0);
  const Parameters parameters = models["echo"]->last.parameters;
  ASSERT_EQ(parameters.size(), 1u) << "headers of HTTP/2 and gRPC are not the application's";
  EXPECT_EQ(parameters[0].first, "my-key");
  EXPECT_EQ(std::get<std::string>(parameters[0].second), "my-value");
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"timeout", "1"}})).status(), 3);
  EXPECT_EQ(client.Finish(client.OpenInfer(InferRequest("echo"), {{"my-key", " spaces "}})).status(), 0);
  EXPECT_EQ(std::get<std::string>(models["echo"]->last.parameters.at(0).second), " spaces ");
}

}  // namespace
}  // namespace tern::server
