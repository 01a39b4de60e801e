#include "server/http/http_server.h"

#include "server/http/connection.h"

namespace tern::server {
namespace {

class Server : public HttpServer {
 public:
  ~Server() override {
    // Work for /metrics reads the listener, so it ends first.
    shared_->repository.Stop();
    shared_->work.Stop();
    listener_.reset();
  }
  static Result<std::unique_ptr<HttpServer>> Start(Loops& loops, std::shared_ptr<HttpShared> shared) {
    auto server = std::make_unique<Server>();
    server->shared_ = shared;
    ListenOptions listen = shared->options.listen;
    if (listen.alpn.empty()) listen.alpn = "http/1.1";
    TERN_ASSIGN(
        server->listener_,
        Listener::Start(
            loops, listen, [shared](Loop& loop, std::unique_ptr<Stream> stream, std::function<void()> done) {
              auto connection =
                  std::make_shared<HttpConnection>(loop, std::move(stream), std::move(done), shared);
              connection->Start();
              return connection;
            }));
    return std::unique_ptr<HttpServer>(std::move(server));
  }
  int port() const override { return listener_->port(); }
  size_t connections() const override { return listener_->connections(); }
  bool Drain(std::chrono::milliseconds limit) override { return listener_->Drain(limit); }

 private:
  std::shared_ptr<HttpShared> shared_;
  std::unique_ptr<Listener> listener_;
};

Status CheckOptions(const HttpOptions& options) {
  if (options.cors_origin.find_first_of("\r\n") != std::string::npos)
    return InvalidArgument("the CORS origin must not contain line breaks");
  if (!options.base_path.empty() && (options.base_path.front() != '/' || options.base_path.back() == '/'))
    return InvalidArgument("the base path must begin with '/' and not end with it, got '", options.base_path,
                           "'");
  return {};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Loops& loops, ServerContext& context,
                                                      const HttpOptions& options) {
  TERN_TRY(CheckOptions(options));
  return Server::Start(loops, std::make_shared<HttpShared>(context, options));
}

Result<std::unique_ptr<HttpServer>> StartMetricsServer(Loops& loops, ServerContext& context,
                                                       const ListenOptions& listen,
                                                       const Restrictions& restrictions) {
  HttpOptions options;
  options.restrictions = restrictions;
  options.listen = listen;
  options.metrics = true;
  auto shared = std::make_shared<HttpShared>(context, options);
  shared->metrics_only = true;
  return Server::Start(loops, std::move(shared));
}

}  // namespace tern::server
