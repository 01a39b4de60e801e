// The gRPC front end: inference.GRPCInferenceService, TensorFlow Serving's services, grpc.health.v1 and
// server reflection over HTTP/2.
#pragma once
#include <memory>

#include "server/core/control.h"
#include "server/core/restrictions.h"
#include "server/net/listener.h"

namespace tern::server {

struct GrpcOptions {
  ListenOptions listen;
  std::chrono::milliseconds keepalive_time{0};  // 0: the server sends no pings
  std::chrono::milliseconds keepalive_timeout{20'000};
  std::chrono::milliseconds max_connection_age{0};  // 0: no limit
  std::chrono::milliseconds max_connection_age_grace{10'000};
  std::chrono::milliseconds message_time{75'000};  // limit on the arrival of a message; long messages get
                                                   // more
  int response_compression = 0;            // 0: none, else the level of gzip for clients that accept it
  uint64_t max_message_bytes = INT32_MAX;  // of a request; Limits::body_bytes also limits compressed ones
  Restrictions restrictions;
  std::shared_ptr<const HeaderPattern> forward;  // headers that become parameters of requests; may be null
};

class GrpcServer {
 public:
  static Result<std::unique_ptr<GrpcServer>> Start(Loops& loops, ServerContext& context,
                                                   const GrpcOptions& options);
  virtual ~GrpcServer() = default;
  virtual int port() const = 0;
  virtual size_t connections() const { return 0; }  // open connections
  // Returns false if accepted requests are not answered after `limit`.
  virtual bool Drain(std::chrono::milliseconds limit) = 0;
};

}  // namespace tern::server
