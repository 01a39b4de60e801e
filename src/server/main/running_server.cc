#include "server/main/running_server.h"

#include <cstdlib>
#include <thread>

#include "base/cores.h"
#include "server/core/injected_delay.h"
#include "server/shm/shared_memory.h"

namespace tern::server {

namespace {

// By default, the file is in the first local repository, or in the folder for copies of remote repositories.
// Its name begins with a dot, so that it is not taken for a model.
std::string RolloutStateFile(const ServeOptions& options) {
  if (!options.rollout_state.empty()) return options.rollout_state;
  const auto& folders = options.repository.folders;
  for (const std::string& folder : folders)
    if (folder.find("://") == std::string::npos) return folder + "/.tern-rollouts.json";
  const std::string& copies = options.repository.store.cache_folder;
  return copies.empty() ? "" : copies + "/.tern-rollouts.json";
}

}  // namespace

Result<std::unique_ptr<RunningServer>> RunningServer::Start(const ServeOptions& options) {
  std::unique_ptr<RunningServer> server(new RunningServer());
  TERN_TRY(server->Open(options));
  TERN_TRY(server->Listen(options));
  return server;
}

RunningServer::~RunningServer() {
  context_.ready = false;
  context_.draining = true;
  if (rollouts_) rollouts_->Stop();
  if (repository_) repository_->Stop(std::chrono::milliseconds(0));
  // All requests are answered, so no search waits for Redis.
  if (cache_) cache_->Stop();
  // Destroyed before grpc_, because both servers write metrics, which count the connections of grpc_.
  metrics_.reset();
  http_.reset();
}

Status RunningServer::Open(const ServeOptions& options) {
  if (const char* delays = std::getenv("TERN_TEST_DELAY_FILE")) UseDelayFile(delays);
  scheduler_ = Scheduler::Create(options.scheduler);
  ObserveOptions observe = options.observe;
  observe.service = options.name;
  observe.version = TERN_VERSION;
  TERN_ASSIGN(observer_, Observer::Create(observe, registry_));
  TERN_ASSIGN(rollouts_, Rollouts::Create({RolloutStateFile(options)}, registry_));
  observer_->AddMetrics([rollouts = rollouts_.get()](MetricsText& text) { rollouts->AppendMetrics(text); });
  RepositoryOptions repository = options.repository;
  repository.selector = rollouts_.get();
  if (options.cache.enabled()) {
    TERN_ASSIGN(cache_, ResponseCache::Create(options.cache));
    repository.cache = cache_;
    observer_->AddCache(cache_);
  }
  TERN_ASSIGN(repository_, Repository::Start(repository, *scheduler_, registry_));
  rollouts_->Start([models = repository_.get()](const std::string& model) { return models->Reload(model); });
  observer_->AddMetrics([this](MetricsText& text) { repository_->AppendMetrics(text); });
  if (options.shared_memory) shared_memory_ = MakeSharedMemory();
  context_.name = options.name;
  context_.version = TERN_VERSION;
  context_.models = &registry_;
  context_.repository = repository_.get();
  context_.rollouts = rollouts_.get();
  context_.shared_memory = shared_memory_.get();
  context_.settings = &observer_->settings();
  context_.observability = observer_.get();
  context_.limits = options.limits;
  return {};
}

Status RunningServer::Listen(ServeOptions options) {
  TERN_ASSIGN(security_, Security::Open(options, context_));
  observer_->AddMetrics([security = security_.get()](MetricsText& text) { security->AppendMetrics(text); });
  TERN_ASSIGN(loops_, Loops::Start(options.loops > 0 ? options.loops : UsableCores()));
  if (options.serve_http) {
    TERN_ASSIGN(http_, HttpServer::Start(*loops_, context_, options.http));
    observer_->AddConnections("http", [http = http_.get()] { return http->connections(); });
  }
  if (options.serve_grpc) {
    TERN_ASSIGN(grpc_, GrpcServer::Start(*loops_, context_, options.grpc));
    observer_->AddConnections("grpc", [grpc = grpc_.get()] { return grpc->connections(); });
  }
  if (options.serve_metrics) {
    TERN_ASSIGN(metrics_, StartMetricsServer(*loops_, context_, options.metrics, options.http.restrictions));
  }
  security_->Start();
  return {};
}

bool RunningServer::Stop(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  const auto left = [end] {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
  };
  context_.ready = false;
  context_.draining = true;
  bool grpc_done = true, http_done = true;
  std::thread grpc([&] {
    if (grpc_) grpc_done = grpc_->Drain(left());
  });
  if (http_) http_done = http_->Drain(left());
  grpc.join();
  rollouts_->Stop();
  repository_->Stop(left());
  return grpc_done && http_done;
}

}  // namespace tern::server
