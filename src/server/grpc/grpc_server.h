// The gRPC front end: inference.GRPCInferenceService, grpc.health.v1 and server reflection over HTTP/2.
#pragma once
#include <memory>

#include "server/core/control.h"
#include "server/net/listener.h"

namespace tern::server {

struct GrpcOptions {
  ListenOptions listen;
  std::chrono::milliseconds keepalive_time{0};  // 0: the server sends no pings
  std::chrono::milliseconds keepalive_timeout{20'000};
  std::chrono::milliseconds max_connection_age{0};  // 0: no limit
  std::chrono::milliseconds max_connection_age_grace{10'000};
  int response_compression = 0;  // 0: none; 1 to 9: the gzip level for clients that accept gzip
  // Limits a request as it is sent. For a compressed request, Limits::body_bytes also limits the decompressed
  // bytes.
  uint64_t max_message_bytes = INT32_MAX;
};

class GrpcServer {
 public:
  static Result<std::unique_ptr<GrpcServer>> Start(Loops& loops, ServerContext& context,
                                                   const GrpcOptions& options);
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  virtual size_t connections() const { return 0; }  // open connections
  virtual void Drain(std::chrono::milliseconds limit) = 0;
};

}  // namespace tern::server
