// Warms up a version and validates it, before clients can use it.
#pragma once
#include "server/repository/life_cycle.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

// A version that is loaded but not published.
struct Candidate {
  std::shared_ptr<ModelVersion> version;               // what clients will use
  std::shared_ptr<ModelVersion> tensors;               // takes the model's own tensors; may be null
  std::vector<std::shared_ptr<ModelVersion>> runners;  // the versions that the scheduler executes
};

enum class Trials {
  kAll,      // warm-up and golden requests
  kWarmUps,  // only model_warmup, because the same files have passed before
};

// Runs model_warmup, the recorded requests and the golden requests. If the model has none of them, its back
// end is built in, and `life_cycle.made_up` is true, runs one request with made-up inputs. That request may
// fail. The executions have a low priority. If the version fails, removes it from the scheduler. `folder` is
// the model's folder, or empty if the model is a single file.
Status Prepare(const Candidate& candidate, Scheduler& scheduler, const ConfigMessage& message,
               const LifeCycle& life_cycle, const std::string& folder, Trials trials);

}  // namespace tern::server
