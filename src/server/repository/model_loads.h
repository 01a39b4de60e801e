// Loads, swaps and unloads models. Operations on one model run one after the other.
#pragma once
#include "server/repository/catalogue.h"
#include "server/repository/load_threads.h"
#include "server/repository/loader.h"
#include "server/residency/holding_version.h"

namespace tern::server {

// Thread-safe.
class ModelLoads {
 public:
  // Failed loads of the models for which `reported` returns true are logged only as details, because the
  // caller reports them.
  using Reported = std::function<bool(const std::string& model)>;
  ModelLoads(const Loader& loader, Scheduler& scheduler, Registry& registry, Reported reported)
      : loader_(loader), scheduler_(scheduler), registry_(registry), reported_(std::move(reported)) {}

  // Loads the versions of a model while its live versions still run. When all new versions are ready, they
  // replace the live ones. Then Load returns. The replaced versions still answer the requests that they have
  // accepted. With ChangeOrder::kUnloadFirst, the versions to be replaced are unloaded first, and loaded
  // again if a new one fails. If a version fails, the live versions stay. If there are no live versions, the
  // versions that are ready are published. Fails if any version failed. Fails with kUnavailable if too many
  // earlier versions still have requests, because each takes memory.
  Status Load(const ModelSource& source, const LoadOptions& options, bool requested);
  // Removes a model from the registry, then drains its versions for at most `limit`. The index then shows
  // `reason`.
  void Unload(const std::string& model, const std::string& reason, std::chrono::milliseconds limit);
  // Waits until all versions that were replaced have answered their requests. After `limit`, the remaining
  // requests are answered with kUnavailable. No Load may follow.
  void FinishRetiring(std::chrono::milliseconds limit);
  // Returns the options of a live model's last load, and whether a client asked for that load. Fails if the
  // model is not live or its files came with a load request.
  Result<std::pair<LoadOptions, bool>> LastLoad(const std::string& model);
  // Marks a model that cannot be loaded, for example because its name is ambiguous.
  void Refuse(const std::string& model, const Status& status);

  Catalogue& catalogue() { return catalogue_; }
  // True while clients can find the model, also between the unloading of old versions and the loading of new
  // ones.
  bool Published(const std::string& model) const { return !registry_.Versions(model).empty(); }

 private:
  // Versions that were unloaded before their successors are loaded (ChangeOrder::kUnloadFirst). `holders`
  // take requests meanwhile.
  struct Gap {
    std::vector<std::string> closed;  // the versions that were unloaded; empty: there is no gap
    std::map<std::string, std::shared_ptr<HoldingVersion>> holders;  // by the version that comes
    LiveVersions kept;
    std::map<std::string, Origin> origins;  // of the versions that were unloaded
    std::string config;
  };
  // Unloads the live versions that the load will replace. Does nothing unless the model has
  // ChangeOrder::kUnloadFirst, or if the new versions have errors that can be found before they are loaded.
  Gap OpenGap(const ModelSource& from, const std::string& config_json);
  void EndVersions(const std::string& model, const std::vector<std::string>& versions, LiveVersions live);
  // Loads the versions that were unloaded again, and publishes them.
  void RestoreVersions(const std::string& model, const Gap& gap);
  // Forwards the requests that wait to the live versions.
  void CloseGap(const std::string& model, const Gap& gap);
  // Logs which versions replace which, and the memory that the change took.
  void Report(const std::string& model, const LoadResult& result, ChangeMemory memory, const Gap& gap,
              std::chrono::nanoseconds duration);

  Status Swap(const std::string& model, LoadResult result, std::shared_ptr<TemporaryFolder> folder,
              const std::string& fingerprint, bool requested);
  void Fail(const std::string& model, const Status& status);
  void LogFailure(const std::string& model, const std::string& message) const;
  void Retire(const LiveVersion& version, std::shared_ptr<TemporaryFolder> folder);
  void WatchRetiring();
  Status AwaitEnded(const std::string& model);
  std::mutex& MutexOf(const std::string& model);

  // A version that was replaced. `folder` or `kept` keeps its files. The version is declared after them, so
  // it is destroyed first.
  struct Retiring {
    std::shared_ptr<TemporaryFolder> folder;
    std::shared_ptr<const void> kept;
    std::shared_ptr<ModelVersion> version;
    Clock::time_point deadline;  // for its requests
  };

  const Loader& loader_;
  Scheduler& scheduler_;
  Registry& registry_;
  const Reported reported_;
  Catalogue catalogue_;
  std::mutex retiring_guard_;
  std::condition_variable retired_;
  std::vector<Retiring> retiring_versions_;
  bool watching_ = false;  // WatchRetiring runs or is queued
  // One thread waits for the requests of all replaced versions. It polls them, so that a busy version does
  // not delay the end of an idle one.
  std::unique_ptr<LoadThreads> retiring_ = std::make_unique<LoadThreads>(1);
  const std::shared_ptr<HoldTimer> hold_timer_ = std::make_shared<HoldTimer>();
  std::mutex mutexes_guard_;
  std::map<std::string, std::unique_ptr<std::mutex>> mutexes_;
};

}  // namespace tern::server
