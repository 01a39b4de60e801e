// Loads the versions of one model and makes them ready to run.
#pragma once
#include <functional>

#include "base/cores.h"
#include "server/backend/backends.h"
#include "server/core/worker_threads.h"
#include "server/repository/layout.h"

namespace tern::server {

// A version that is ready, with a fingerprint of the files that it was loaded from.
struct LiveVersion {
  std::shared_ptr<ModelVersion> model;
  std::string fingerprint;
};
using LiveVersions = std::map<std::string, LiveVersion>;  // by version

struct LoadResult {
  LiveVersions versions;
  std::map<std::string, Status> failures;  // by version
  std::vector<std::string> steps;          // models that an ensemble runs
  std::string config;                      // JSON of the load request
};

class Loader {
 public:
  Loader(const RepositoryOptions& options, Scheduler& scheduler, const Registry& registry,
         BackendSource& backends)
      : options_(options), scheduler_(scheduler), registry_(registry), backends_(backends) {}
  ~Loader() { pipelines_->Stop(); }

  // Returns the models that an ensemble runs. The result is empty for other models, and if the configuration
  // cannot be read.
  std::vector<std::string> StepsOf(const ModelSource& source, const std::string& config_json) const;

  // Loads all versions that the version policy selects. Versions in `live` whose files did not change are
  // reused. Calls `started` with each version before it is loaded. Fails only if an error concerns all
  // versions, such as a wrong configuration.
  Result<LoadResult> Load(const ModelSource& source, const std::string& config_json, const LiveVersions& live,
                          const std::function<void(const std::string&)>& started) const;

 private:
  Result<std::shared_ptr<ModelVersion>> LoadVersion(const ModelSource& source, const std::string& version,
                                                    ConfigMessage& message) const;
  // Loads a model that has a pipeline.
  Result<std::shared_ptr<ModelVersion>> LoadPipelined(const ModelSource& source, const ModelFiles& files,
                                                      const std::string& pipeline, const std::string& version,
                                                      ConfigMessage& message, ModelConfig config) const;
  // Adds a model to the scheduler and runs its warm-up.
  Result<std::shared_ptr<ModelVersion>> AddWarm(const ModelSource& source, const std::string& version,
                                                const ConfigMessage& message, ModelConfig config,
                                                std::unique_ptr<BackendModel> model) const;
  // Gives a version its identity, and stores its responses if the configuration asks for it. Does nothing if
  // the server has no cache. `unchanged` tells whether the files are those that were loaded.
  Result<std::shared_ptr<ModelVersion>> WithCache(std::shared_ptr<ModelVersion> loaded,
                                                  const ModelSource& source,
                                                  const std::function<bool()>& unchanged) const;
  const RepositoryOptions& options_;
  Scheduler& scheduler_;
  const Registry& registry_;
  BackendSource& backends_;
  // Threads that decode pictures, sounds and texts, for all models.
  const std::shared_ptr<WorkerThreads> pipelines_ = std::make_shared<WorkerThreads>(UsableCores());
};

// Checks that the steps of an ensemble are ready and have the tensors that the ensemble maps.
Status CheckSteps(const ModelConfig& ensemble, const Registry& models);

}  // namespace tern::server
