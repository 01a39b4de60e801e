// The labels and rollouts of all models.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "server/core/control.h"
#include "server/core/version_selector.h"
#include "server/core/worker_threads.h"
#include "server/rollout/arms.h"
#include "server/rollout/state_file.h"

namespace tern::server {

class MetricsText;
struct RolloutRequest;

struct RolloutsOptions {
  std::string state_file;  // empty: releases are forgotten when the server ends
};

// Thread-safe. The registry asks this object for routes, and the repository asks it for versions. Its own
// thread makes the decisions. Stop must be called before the repository ends.
class Rollouts final : public RolloutControl, public VersionSelector {
 public:
  // Loads and unloads versions of a model according to Select. Returns when that is done.
  using Reload = std::function<Status(const std::string& model)>;

  // Reads the state file, and becomes the registry's router. `registry` must outlive the result.
  static Result<std::unique_ptr<Rollouts>> Create(const RolloutsOptions& options, Registry& registry);
  ~Rollouts() override;
  // Starts the thread that decides. Call it once, when models can be loaded.
  void Start(Reload reload);
  void Stop();

  void Select(const std::string& model, const VersionChoice& choice,
              std::vector<std::string>& selected) override;
  Result<std::string> State(const std::string& model) override;
  Result<std::string> Change(const std::string& model, std::string_view request) override;
  void AppendMetrics(MetricsText& text);

  // Decides about all rollouts. The thread calls it ten times per second; tests call it with other times.
  void Tick(Clock::time_point now);

 private:
  struct Running {
    std::shared_ptr<ModelVersion> stable, candidate;
    std::shared_ptr<Trial> trial;
    std::shared_ptr<RequestMirror> mirror;
    Arms arms;
  };
  struct Entry {
    Release release;
    std::vector<std::string> existing;  // versions on disk at the last selection
    std::vector<std::string> selected;  // by the last selection
    std::set<std::string> extra;        // versions that a request needs until it has changed the release
    std::optional<Running> running;
    std::map<std::string, std::shared_ptr<VersionCounters>> counters;  // by version
    std::map<std::string, uint64_t> changes;                           // by ReleaseEvent::change
    // Held by the request that changes the release. Others of the same model wait.
    std::unique_ptr<std::mutex> acting = std::make_unique<std::mutex>();
  };
  using Versions = std::vector<std::shared_ptr<ModelVersion>>;

  Rollouts(const RolloutsOptions& options, Registry& registry) : options_(options), registry_(registry) {}
  void Loop();

  // Called under mutex_.
  VersionRoute MakeRoute(const std::string& model, Entry& entry, const Versions& versions);
  void EnsureTrial(const std::string& model, Entry& entry, const Versions& versions);
  Result<RolloutPolicy> PolicyOf(const Entry& entry, const ModelVersion& candidate) const;
  void EndTrial(Entry& entry);
  void Record(const std::string& model, Entry& entry, std::vector<ReleaseEvent> events);
  std::shared_ptr<VersionCounters> CountersOf(Entry& entry, const std::string& version);
  std::string StateJson(const std::string& model, const Entry& entry) const;
  void WriteTrial(const Running& running, data::JsonWriter& json) const;

  void Apply(const std::string& model, const std::shared_ptr<Trial>& trial, const Decision& decision);
  void Save();
  void ReloadLater(const std::string& model);

  // The actions of a request. Those of a model are called one after the other, without mutex_.
  Status Carry(const std::string& model, const RolloutRequest& request);
  Status Begin(const std::string& model, const RolloutRequest& request);
  Status SetWeight(const std::string& model, const RolloutRequest& request);
  Status Promote(const std::string& model, const RolloutRequest& request);
  Status RollBack(const std::string& model, const RolloutRequest& request);
  Status Pin(const std::string& model, const std::string& version, const std::string& change,
             const std::string& reason);
  Status Unpin(const std::string& model);
  Status SetLabel(const std::string& model, const RolloutRequest& request);
  // While this object exists, the versions stay selected, and loads do not change the release.
  class Hold {
   public:
    Hold(Rollouts& rollouts, const std::string& model, const std::vector<std::string>& versions);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Rollouts& rollouts_;
    const std::string model_;
  };
  // Makes sure that these versions are loaded. They stay loaded while a Hold has them.
  Status Load(const std::string& model, const std::vector<std::string>& versions);
  Status CheckExists(const std::string& model, const std::string& version);
  // Returns the version that answers requests without a version.
  Result<std::string> CurrentVersion(const std::string& model) const;

  const RolloutsOptions options_;
  Registry& registry_;
  Reload reload_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Entry> entries_;
  std::vector<Running> ended_;   // trials that the thread stops
  std::set<std::string> stale_;  // models that may have loaded versions that they no longer need
  bool dirty_ = false;           // the state file is older than the releases
  std::string save_error_;
  bool stopped_ = false;

  std::mutex saving_;
  std::set<std::string> reloading_;  // models that wait for ReloadLater
  std::unique_ptr<WorkerThreads> reloads_ = std::make_unique<WorkerThreads>(1);
  std::thread thread_;
};

}  // namespace tern::server
