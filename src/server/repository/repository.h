// Folders of models in Triton's layout, and single models mounted flat.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "server/core/control.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

enum class ControlMode { kNone, kPoll, kExplicit };

struct FlatModel {
  std::string name, path;
};

struct RepositoryOptions {
  std::vector<std::string> folders;
  std::vector<FlatModel> models;  // --model NAME=PATH: version 1 of a model
  ControlMode control = ControlMode::kNone;
  std::chrono::seconds poll_interval{15};
  std::vector<std::string> load_at_start;  // with kExplicit; "*": all
  int load_threads = 2;
  bool strict = false;         // a model that cannot be loaded at the start is an error of Start
  std::string backend_folder;  // of plug-ins; empty: beside the program
  bool auto_complete = true;
};

// Loads the models of the start in parallel and publishes each in the registry when it is ready.
class Repository : public RepositoryControl {
 public:
  static Result<std::unique_ptr<Repository>> Start(const RepositoryOptions& options, Scheduler& scheduler,
                                                   Registry& registry);
  virtual bool AllReady() const = 0;  // every model of the start is loaded, or has failed
  virtual void Stop(std::chrono::milliseconds limit) = 0;  // unloads all
};

}  // namespace tern::server
