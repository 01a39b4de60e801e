// Reads the settings of a server from flags, environment variables and a YAML file.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "server/access/access.h"
#include "server/access/audit_log.h"
#include "server/cache/cache_options.h"
#include "server/grpc/grpc_server.h"
#include "server/http/http_server.h"
#include "server/main/entry.h"
#include "server/observe/observer.h"
#include "server/repository/repository.h"

namespace tern::server {

struct ServeOptions {
  RepositoryOptions repository;
  SchedulerOptions scheduler;
  HttpOptions http;
  GrpcOptions grpc;
  ListenOptions metrics;
  bool serve_http = true, serve_grpc = true, serve_metrics = true;
  Limits limits;
  AccessOptions access;
  AuditOptions audit;
  bool metrics_tls = false;  // the metrics port uses the certificate, too
  ObserveOptions observe;
  CacheOptions cache;
  bool shared_memory = false;
  int loops = 0;                    // 0: one per core
  std::string address = "0.0.0.0";  // for ports without their own address
  std::string name = "tern";
  std::string rollout_state;  // a file; empty: see RolloutStateFile
  std::string ready_file;
  std::chrono::seconds exit_timeout{30};
  bool quiet = false;
};

using Environment = std::function<const char*(const std::string& name)>;

// A flag overrides an environment variable, which overrides the file. Lists of several sources are not
// joined. The names in `flags` have no leading dashes. The path of the file is the flag `config` or the
// variable TERN_SERVE_CONFIG.
Result<ServeOptions> ReadOptions(const std::vector<std::pair<std::string, std::string>>& flags,
                                 const Environment& environment);

// Returns the names and values of a YAML file in the order of the file.
Result<std::vector<std::pair<std::string, std::string>>> ReadSettingsFile(const std::string& path);

// Sets one setting. Fails for an unknown name and for an invalid value.
Status ApplySetting(const std::string& name, const std::string& value, ServeOptions& options);

}  // namespace tern::server
