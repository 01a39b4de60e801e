// The HTTP/1.1 front end: the v2 protocol with Triton's extensions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/core/control.h"
#include "server/core/restrictions.h"
#include "server/net/listener.h"

namespace tern::server {

struct HttpOptions {
  ListenOptions listen;
  std::string cors_origin;  // the value of Access-Control-Allow-Origin; empty: no CORS headers
  std::string base_path;    // prefix of all paths before /v2, such as "/tern" behind a proxy; may be empty
  bool metrics = false;     // also serve GET /metrics on this port
  std::chrono::seconds idle{75};  // a connection without a request is closed after this time; 0: never
  Restrictions restrictions;
  std::shared_ptr<const HeaderPattern> forward;  // headers that become parameters of requests; may be null
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Start(Loops& loops, ServerContext& context,
                                                   const HttpOptions& options);
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  virtual size_t connections() const { return 0; }  // open connections
  // Returns false if accepted requests are not answered after `limit`.
  virtual bool Drain(std::chrono::milliseconds limit) = 0;
};

// Serves only GET /metrics.
Result<std::unique_ptr<HttpServer>> StartMetricsServer(Loops& loops, ServerContext& context,
                                                       const ListenOptions& listen,
                                                       const Restrictions& restrictions = {});

}  // namespace tern::server
