// A server: its scheduler, repository, observer, event loops and front ends.
#pragma once
#include <memory>

#include "server/main/options.h"
#include "server/main/security.h"
#include "server/net/loop.h"
#include "server/rollout/rollouts.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

class RunningServer {
 public:
  // Returns when the server listens on all ports. Models are loaded in the background.
  static Result<std::unique_ptr<RunningServer>> Start(const ServeOptions& options);
  ~RunningServer();

  bool AllReady() const { return repository_->AllReady(); }
  Status StartError() const { return repository_->StartError(); }
  void SetReady() { context_.ready = true; }
  std::vector<IndexEntry> Index() { return repository_->Index(false); }
  const Registry& models() const { return registry_; }
  // Opens logs again, and looks for changes of certificates and of the access file.
  void Reload() {
    observer_->Reopen();
    security_->Reload();
  }
  // The ports. A port is 0 if its protocol is not served.
  int http_port() const { return http_ ? http_->port() : 0; }
  int grpc_port() const { return grpc_ ? grpc_->port() : 0; }
  int metrics_port() const { return metrics_ ? metrics_->port() : 0; }

  // Makes the server not ready and refuses new requests. Returns when the accepted requests are answered and
  // all models are unloaded, or after `limit`. Returns false if requests were not answered in time.
  bool Stop(std::chrono::milliseconds limit);

 private:
  RunningServer() = default;
  Status Open(const ServeOptions& options);
  Status Listen(ServeOptions options);

  std::unique_ptr<Security> security_;
  ServerContext context_;  // outlives the calls that the scheduler still runs
  std::unique_ptr<Scheduler> scheduler_;
  Registry registry_;
  std::unique_ptr<Observer> observer_;
  std::unique_ptr<Rollouts> rollouts_;
  std::unique_ptr<Repository> repository_;
  std::unique_ptr<SharedMemoryControl> shared_memory_;
  std::unique_ptr<Loops> loops_;
  std::unique_ptr<HttpServer> http_, metrics_;
  std::unique_ptr<GrpcServer> grpc_;
};

}  // namespace tern::server
