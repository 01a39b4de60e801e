#include "server/grpc/grpc_server.h"

#include <algorithm>

#include "server/grpc/grpc_connection.h"

namespace tern::server {
namespace {

class Server : public GrpcServer {
 public:
  Server(ServerContext& context, const GrpcOptions& options)
      : shared_(std::make_shared<GrpcShared>(context, options)) {}

  Status Listen(Loops& loops) {
    ListenOptions listen = shared_->options.listen;
    if (listen.alpn.empty()) listen.alpn = "h2";
    TERN_ASSIGN(listener_,
                Listener::Start(loops, listen, [shared = shared_](auto& loop, auto stream, auto done) {
                  return Connect(shared, loop, std::move(stream), std::move(done));
                }));
    return {};
  }

  int port() const override { return listener_->port(); }
  size_t connections() const override { return listener_->connections(); }
  bool Drain(std::chrono::milliseconds limit) override { return listener_->Drain(limit); }

 private:
  static std::shared_ptr<Connection> Connect(const std::shared_ptr<GrpcShared>& shared, Loop& loop,
                                             std::unique_ptr<Stream> stream, std::function<void()> done) {
    auto connection = std::make_shared<GrpcConnection>(shared, loop, std::move(stream), std::move(done));
    if (!connection->Start().ok()) return nullptr;
    return connection;
  }

  std::shared_ptr<GrpcShared> shared_;
  // Declared last: its connections are closed before shared_ is destroyed.
  std::unique_ptr<Listener> listener_;
};

}  // namespace

GrpcShared::GrpcShared(ServerContext& server_context, const GrpcOptions& server_options)
    : context(server_context),
      options(server_options),
      keeps_headers(!options.restrictions.empty() || options.forward) {
  limits.message = options.max_message_bytes;
  limits.decompressed = std::min(options.max_message_bytes, context.limits.body_bytes);
}

Result<std::unique_ptr<GrpcServer>> GrpcServer::Start(Loops& loops, ServerContext& context,
                                                      const GrpcOptions& options) {
  auto server = std::make_unique<Server>(context, options);
  TERN_TRY(server->Listen(loops));
  return std::unique_ptr<GrpcServer>(std::move(server));
}

}  // namespace tern::server
