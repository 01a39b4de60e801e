// Runs all models of the server on the machine's cores. A server has one scheduler.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/core/backend.h"
#include "server/core/registry.h"

namespace tern::server {

class Executor;

struct SchedulerOptions {
  int threads = 0;  // number of threads that execute models; 0: one per core
  // A model whose last executions took less than this may run on the thread that received the request.
  std::chrono::microseconds inline_below{100};
};

// Thread-safe.
class Scheduler {
 public:
  static std::unique_ptr<Scheduler> Create(const SchedulerOptions& options);
  virtual ~Scheduler() = default;

  // Makes a version that can run requests. Creates config.instances instances of `model`. The result owns the
  // model.
  virtual Result<std::shared_ptr<ModelVersion>> Add(ModelConfig config, std::string version,
                                                    std::unique_ptr<BackendModel> model) = 0;
  // Makes a version of an ensemble. Its steps are looked up in `models` when a request arrives.
  virtual Result<std::shared_ptr<ModelVersion>> AddEnsemble(ModelConfig config, std::string version,
                                                            const Registry& models) = 0;
  // The threads that execute models, for versions that are not made by Add.
  virtual std::shared_ptr<Executor> executor() { return nullptr; }
  // While `background` is true, executions of the version run on threads of low priority and take no core
  // from other versions. For a version that is not published yet. Call it when the version has no requests.
  virtual void SetBackground(const std::shared_ptr<ModelVersion>& /*version*/, bool /*background*/) {}
  // Refuses new requests to a version with kUnavailable. Returns when all accepted requests are answered.
  // Requests that are not answered after `limit` are answered with kUnavailable.
  virtual void Remove(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds limit) = 0;
  // Like Remove, but for a version that another one has replaced in the registry. Callers that found the
  // version before may still submit requests to it. These requests are refused only if requests remain after
  // `limit`. If another thread calls Remove or Retire for the version with a shorter limit, this function
  // returns when that limit ends.
  virtual void Retire(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds limit) = 0;
  // Returns whether Retire would return at once, because all accepted requests are answered.
  virtual bool Retired(const std::shared_ptr<ModelVersion>& version) = 0;
};

}  // namespace tern::server
