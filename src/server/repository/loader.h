// Loads the versions of one model and makes them ready to run.
#pragma once
#include <functional>
#include <optional>

#include "base/cores.h"
#include "server/backend/backends.h"
#include "server/core/worker_threads.h"
#include "server/repository/layout.h"
#include "server/repository/prepare.h"
#include "server/residency/memory_budget.h"

namespace tern::server {

class RemoteRepositories;

// Where a version was loaded from.
struct Origin {
  ModelSource source;
  std::shared_ptr<const void> kept;  // keeps the files; null: nothing removes them
};

// A version that is ready, with a fingerprint of the files that it was loaded from.
struct LiveVersion {
  std::shared_ptr<ModelVersion> model;
  std::string fingerprint;
  Origin origin;
};
using LiveVersions = std::map<std::string, LiveVersion>;  // by version

struct LoadResult {
  LiveVersions versions;
  std::map<std::string, Status> failures;  // by version
  std::vector<std::string> steps;          // models that an ensemble runs
  std::string config;                      // JSON of the load request
};

// The result of Plan: what a load will do. No model file has been read yet.
struct LoadPlan {
  std::shared_ptr<const ConfigMessage> message;
  LifeCycle life_cycle;
  bool ensemble = false;
  std::vector<std::string> steps;                             // models that an ensemble runs
  std::vector<std::pair<std::string, std::string>> versions;  // with their fingerprints, ascending
  std::vector<std::string> missing;  // versions that the policy names and that do not exist

  // Returns whether a live version stays as it is.
  bool Keeps(const std::string& version, const LiveVersions& live) const;
};

class Loader {
 public:
  Loader(const RepositoryOptions& options, Scheduler& scheduler, const Registry& registry,
         BackendSource& backends, MemoryBudget* budget = nullptr, RemoteRepositories* remote = nullptr)
      : options_(options),
        scheduler_(scheduler),
        registry_(registry),
        backends_(backends),
        budget_(budget),
        remote_(remote) {}
  ~Loader() { pipelines_->Stop(); }

  // Returns the models that an ensemble runs. The result is empty for other models, and if the configuration
  // cannot be read.
  std::vector<std::string> StepsOf(const ModelSource& source, const std::string& config_json) const;

  // Loads all versions that the version policy selects. Versions in `live` whose files did not change are
  // reused. Calls `started` with each version before it is loaded. Fails only if an error concerns all
  // versions, such as a wrong configuration.
  Result<LoadResult> Load(const ModelSource& source, const std::string& config_json, const LiveVersions& live,
                          const std::function<void(const std::string&)>& started) const;
  // Reads the configuration and finds the files of the versions. Fails like Load.
  Result<LoadPlan> Plan(const ModelSource& source, const std::string& config_json) const;
  // Fails if the model file of a planned version is missing.
  Status CheckFiles(const ModelSource& source, const LoadPlan& plan) const;
  // Loads versions again that have been loaded before, without their golden requests.
  LoadResult Restore(const std::map<std::string, Origin>& versions, const std::string& config_json) const;

 private:
  Status LoadOne(const ModelSource& source, const LoadPlan& plan, const std::string& version,
                 const std::string& fingerprint, const std::string& config_json, bool now,
                 LoadResult& result) const;
  Result<LiveVersion> RestoreOne(const Origin& origin, const std::string& version,
                                 const std::string& config_json) const;
  Result<std::shared_ptr<ModelVersion>> LoadVersion(const ModelSource& source, const std::string& version,
                                                    ConfigMessage& message, Trials trials) const;
  // Like LoadVersion, but under a memory budget the version may be loaded later, unless `now` is true.
  Result<std::shared_ptr<ModelVersion>> LoadUnderBudget(const ModelSource& source, const LoadPlan& plan,
                                                        const std::string& version,
                                                        const std::string& fingerprint,
                                                        const std::string& config_json, Trials trials,
                                                        bool now) const;
  // Returns the configuration of a version that clients can use before it is loaded, if that is possible.
  std::optional<ModelConfig> KnownConfig(const ModelSource& source, const LoadPlan& plan,
                                         const std::string& version) const;
  // Returns a version that generates text, or null if the model is served with its tensors.
  Result<std::shared_ptr<ModelVersion>> FindGenerator(const ModelSource& source, const ModelFiles& files,
                                                      const std::string& version, ConfigMessage& message,
                                                      ModelConfig config) const;
  // Reads a version and adds it to the scheduler.
  Result<Candidate> Read(const ModelSource& source, const std::string& version, ConfigMessage& message) const;
  Result<Candidate> ReadPipelined(const ModelFiles& files, const std::string& pipeline,
                                  const std::string& version, ConfigMessage& message,
                                  ModelConfig config) const;
  // Gives a version its identity, and stores its responses if the configuration asks for it. Does nothing if
  // the server has no cache. `unchanged` tells whether the files are those that were loaded.
  Result<std::shared_ptr<ModelVersion>> WithCache(std::shared_ptr<ModelVersion> loaded,
                                                  const ModelSource& source,
                                                  const std::function<bool()>& unchanged) const;
  const RepositoryOptions& options_;
  Scheduler& scheduler_;
  const Registry& registry_;
  BackendSource& backends_;
  MemoryBudget* const budget_;        // null: no limit
  RemoteRepositories* const remote_;  // null: there are none
  // Threads that decode pictures, sounds and texts, for all models.
  const std::shared_ptr<WorkerThreads> pipelines_ = std::make_shared<WorkerThreads>(UsableCores());
};

// Fails unless inputs and outputs have types and dims.
Status CheckComplete(const ModelConfig& config);

// Returns a text that changes with the configuration and the files of a version.
std::string VersionPrint(const ModelSource& source, const std::string& version,
                         const std::string& config_json);

// Checks that the steps of an ensemble are ready and have the tensors that the ensemble maps.
Status CheckSteps(const ModelConfig& ensemble, const Registry& models);

}  // namespace tern::server
