#include "server/repository/prepare.h"

#include <algorithm>

#include "model_config.pb.h"
#include "server/backend/backends.h"
#include "server/core/log.h"
#include "server/repository/golden.h"
#include "server/repository/trial.h"
#include "server/repository/warm_up.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kRemoveLimit{100};  // only a request that hangs can be left

// A made-up request only makes the first real request faster, so the version need not answer it.
void TryMadeUp(ModelVersion& version, std::chrono::milliseconds limit) {
  std::optional<Request> request = MadeUpRequest(version.config());
  if (!request) return;
  const Status status = Guard([&] { return TryRequest(version, std::move(*request), limit).TakeStatus(); });
  if (!status.ok())
    Log(LogLevel::kVerbose, StrCat("model '", version.config().name, "' version ", version.version(),
                                   " does not answer a request with zeros: ", status.message()));
}

Status RunTrials(const Candidate& candidate, const ConfigMessage& message, const LifeCycle& life_cycle,
                 const std::string& folder, Trials trials) {
  ModelVersion& version = *candidate.version;
  if (candidate.tensors) TERN_TRY(WarmUp(*candidate.tensors, message, folder, life_cycle.trial_limit));
  if (trials == Trials::kWarmUps) return {};
  size_t recorded = 0, golden = 0;
  if (!folder.empty()) {
    TERN_ASSIGN(recorded, RunRecordedRequests(version, folder, life_cycle.trial_limit));
    TERN_ASSIGN(golden, RunGoldenRequests(version, folder, life_cycle.trial_limit));
  }
  version.SetGoldenRequests(golden);
  const bool warm = recorded + golden > 0 || message.model_warmup_size() > 0;
  // Plug-ins may have side effects, so they get no made-up requests.
  if (!warm && life_cycle.made_up && candidate.tensors && IsBuiltIn(message.backend()))
    TryMadeUp(*candidate.tensors, life_cycle.trial_limit);
  return {};
}

}  // namespace

Status Prepare(const Candidate& candidate, Scheduler& scheduler, const ConfigMessage& message,
               const LifeCycle& life_cycle, const std::string& folder, Trials trials) {
  for (const auto& runner : candidate.runners) scheduler.SetBackground(runner, true);
  const Status status = Guard([&] { return RunTrials(candidate, message, life_cycle, folder, trials); });
  if (!status.ok()) {
    for (const auto& runner : candidate.runners) scheduler.Remove(runner, kRemoveLimit);
    if (std::count(candidate.runners.begin(), candidate.runners.end(), candidate.version) == 0)
      scheduler.Remove(candidate.version, kRemoveLimit);
    return status;
  }
  for (const auto& runner : candidate.runners) scheduler.SetBackground(runner, false);
  candidate.version->ResetStatistics();
  return {};
}

}  // namespace tern::server
