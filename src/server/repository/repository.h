// Serves folders of models in Triton's layout, remote repositories, and single models that --model NAME=PATH
// names.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/core/control.h"
#include "server/core/version_selector.h"
#include "server/isolation/options.h"
#include "server/scheduler/scheduler.h"
#include "server/store/store_options.h"

namespace tern::server {

class ResponseCache;

enum class ControlMode { kNone, kPoll, kExplicit };

// The models without which the server does not run.
enum class MustLoad { kNone, kFlatModels, kAll };

// What happens first when new versions of a model replace old ones.
enum class ChangeOrder {
  kLoadFirst,    // the old versions serve until the new ones are ready; both are in memory for a moment
  kUnloadFirst,  // the old versions are gone before the new ones are loaded; requests wait meanwhile
};

struct FlatModel {
  std::string name, path;
};

struct RepositoryOptions {
  std::vector<std::string> folders;  // or URLs of remote repositories, such as s3://BUCKET/PREFIX
  std::vector<FlatModel> models;     // from --model NAME=PATH; version 1, unless PATH has folders of versions
  ControlMode control = ControlMode::kNone;
  std::chrono::seconds poll_interval{15};
  // A poll waits this long for each load that it starts. A load that takes longer goes on during later polls.
  std::chrono::milliseconds poll_patience{5'000};
  std::vector<std::string> load_at_start;  // only with kExplicit; "*" means all models
  int load_threads = 2;
  MustLoad must_load = MustLoad::kFlatModels;
  std::string backend_folder;  // folder of plug-ins; empty: beside the program
  bool auto_complete = true;
  IsolationDefaults isolation;
  std::shared_ptr<ResponseCache> cache;  // of the server; may be null
  VersionSelector* selector = nullptr;   // null: the version policies alone select versions
  StoreOptions store;                    // of remote repositories
  ChangeOrder order = ChangeOrder::kLoadFirst;
  uint64_t memory_budget = 0;       // bytes of the models that are resident at the same time; 0: no limit
  std::vector<std::string> pinned;  // models that stay resident under the budget
  std::chrono::milliseconds trial_limit{300'000};  // of each warm-up request and golden request
};

class MetricsText;

// Loads models in parallel at the start, and publishes each in the registry when it is ready.
class Repository : public RepositoryControl {
 public:
  static Result<std::unique_ptr<Repository>> Start(const RepositoryOptions& options, Scheduler& scheduler,
                                                   Registry& registry);
  virtual bool AllReady() const = 0;  // true if every model to load at the start is loaded or has failed
  // After AllReady, returns why a model that must be loaded at the start is not loaded.
  virtual Status StartError() const = 0;
  // Loads and unloads versions of a live model, so that the versions that the selector now selects are
  // loaded. Returns when that is done.
  virtual Status Reload(const std::string& model) = 0;
  virtual void Stop(std::chrono::milliseconds limit) = 0;  // unloads all models
  virtual void AppendMetrics(MetricsText& /*text*/) const {}
};

}  // namespace tern::server
