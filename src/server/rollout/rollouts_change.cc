// The part of Rollouts that carries out requests.
#include <algorithm>

#include "data/json_writer.h"
#include "server/rollout/request.h"
#include "server/rollout/rollouts.h"

namespace tern::server {
namespace {

std::string WithReason(const std::string& what, const std::string& reason) {
  return reason.empty() ? what : StrCat(what, ": ", reason);
}

Status NoRollout(const std::string& model) {
  return InvalidArgument("no rollout of model '", model, "' runs");
}

}  // namespace

Result<std::string> Rollouts::Change(const std::string& model, std::string_view text) {
  TERN_ASSIGN(const RolloutRequest request, ParseRolloutRequest(text));
  TERN_TRY(registry_.Find(model).status());
  std::mutex* acting = nullptr;  // entries are never removed
  {
    const std::lock_guard lock(mutex_);
    acting = entries_[model].acting.get();
  }
  const std::lock_guard alone(*acting);
  Status status = Carry(model, request);
  registry_.Reroute(model);
  TERN_TRY(std::move(status));
  Save();
  if (request.action != RolloutAction::kWeight) ReloadLater(model);
  return State(model);
}

Status Rollouts::Carry(const std::string& model, const RolloutRequest& request) {
  switch (request.action) {
    case RolloutAction::kStart:
      return Begin(model, request);
    case RolloutAction::kWeight:
      return SetWeight(model, request);
    case RolloutAction::kPromote:
      return Promote(model, request);
    case RolloutAction::kRollback:
    case RolloutAction::kAbort:
      return RollBack(model, request);
    case RolloutAction::kPin: {
      std::string version = request.version;
      if (version.empty()) {
        TERN_ASSIGN(version, CurrentVersion(model));
      }
      return Pin(model, version, "pin", WithReason("pinned by request", request.reason));
    }
    case RolloutAction::kUnpin:
      return Unpin(model);
    case RolloutAction::kLabel:
      return SetLabel(model, request);
  }
  return {};
}

Result<std::string> Rollouts::CurrentVersion(const std::string& model) const {
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(model);
    if (found != entries_.end() && !found->second.release.stable.empty()) return found->second.release.stable;
  }
  TERN_ASSIGN(const auto version, registry_.Find(model));
  return version->version();
}

Status Rollouts::CheckExists(const std::string& model, const std::string& version) {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string>& existing = entries_[model].existing;
  if (std::find(existing.begin(), existing.end(), version) != existing.end()) return {};
  return NotFound("version ", version, " of model '", model,
                  "' does not exist; there are: ", Join(existing, ", "));
}

Rollouts::Hold::Hold(Rollouts& rollouts, const std::string& model, const std::vector<std::string>& versions)
    : rollouts_(rollouts), model_(model) {
  const std::lock_guard lock(rollouts_.mutex_);
  rollouts_.entries_[model_].extra.insert(versions.begin(), versions.end());
}

Rollouts::Hold::~Hold() {
  const std::lock_guard lock(rollouts_.mutex_);
  rollouts_.entries_[model_].extra.clear();
}

Status Rollouts::Load(const std::string& model, const std::vector<std::string>& versions) {
  // A version is ready if it is loaded and selected. A loaded version that is not selected may be unloaded by
  // a reload that runs now. In this case, reload_ waits for the end of that reload and loads the version
  // again.
  const auto ready = [&](const std::string& version) {
    const std::vector<std::string>& selected = entries_[model].selected;
    return registry_.Find(model, version).ok() &&
           std::find(selected.begin(), selected.end(), version) != selected.end();
  };
  const auto all_ready = [&] {
    const std::lock_guard lock(mutex_);
    return std::all_of(versions.begin(), versions.end(), ready);
  };
  for (const std::string& version : versions) TERN_TRY(CheckExists(model, version));
  if (all_ready()) return {};
  if (!reload_) return Unavailable("versions cannot be loaded yet");
  TERN_TRY(reload_(model));
  return all_ready()
             ? Status()
             : Unavailable("version ", Join(versions, " or "), " of model '", model, "' is not loaded");
}

Status Rollouts::Begin(const std::string& model, const RolloutRequest& request) {
  TERN_ASSIGN(std::string stable, CurrentVersion(model));
  if (!request.stable.empty()) stable = request.stable;
  std::string version = request.version;
  {
    const std::lock_guard lock(mutex_);
    if (version.empty())  // the newest one
      for (const std::string& existing : entries_[model].existing)
        if (existing != stable) version = existing;
  }
  if (version.empty() || version == stable)
    return InvalidArgument("version ", stable, " of model '", model,
                           "' is the stable one; name another 'version', or another 'stable' version");
  TERN_TRY(CheckExists(model, version));
  TERN_TRY(CheckExists(model, stable));
  TERN_ASSIGN(const auto serving, registry_.Find(model));
  if (serving->config().sequence)
    return Unsupported("model '", model,
                       "' has sequences, whose requests cannot be divided between two versions");
  data::JsonWriter policy;
  if (!request.policy.empty()) {
    RolloutPolicy defaults;
    const auto& parameters = serving->config().parameters;
    if (const auto found = parameters.find(kRolloutParameter); found != parameters.end()) {
      TERN_ASSIGN(defaults, ParsePolicy(found->second));
    }
    TERN_ASSIGN(const RolloutPolicy merged, ParsePolicy(request.policy, defaults));
    WritePolicy(merged, policy);
  }
  const Hold hold(*this, model, {stable, version});
  Release before;
  {
    // The stable version answers while the candidate is loaded.
    const std::lock_guard lock(mutex_);
    before = entries_[model].release;
    entries_[model].release.stable = stable;
  }
  const Status status = Load(model, {stable, version});
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  if (!status.ok()) {
    // Other decisions that were made meanwhile stay.
    if (entry.release.stable == stable) entry.release.stable = before.stable;
    return status;
  }
  Release& release = entry.release;
  const std::string replaced = release.candidate == version ? "" : release.candidate;
  release.SetStable(stable);
  release.Accept(version);
  if (!replaced.empty()) release.Reject(replaced, StrCat("a rollout of version ", version, " was started"));
  release.pinned = false;
  release.candidate = version;
  release.policy = policy.Take();
  EndTrial(entry);  // evidence of an earlier rollout of the same version does not count
  Record(model, entry,
         {{0, "start", version,
           WithReason(StrCat("by request, beside the stable version ", stable), request.reason)}});
  return {};
}

Status Rollouts::SetWeight(const std::string& model, const RolloutRequest& request) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  if (!entry.running) return NoRollout(model);
  entry.release.weight = request.weight;
  entry.running->trial->SetStep(entry.release.step, request.weight, Clock::now());
  Record(model, entry,
         {{0, "weight", entry.release.candidate,
           WithReason(StrCat(entry.running->trial->weight(), " % by request"), request.reason)}});
  return {};
}

Status Rollouts::Promote(const std::string& model, const RolloutRequest& request) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  const std::string candidate = entry.release.candidate;
  if (candidate.empty()) return NoRollout(model);
  if (!request.version.empty() && request.version != candidate)
    return InvalidArgument("the candidate of model '", model, "' is version ", candidate, ", not ",
                           request.version);
  entry.release.SetStable(candidate);
  Record(model, entry, {{0, "promote", candidate, WithReason("by request", request.reason)}});
  return {};
}

// Ends a rollout, or makes a named version the stable one until a newer version appears.
Status Rollouts::RollBack(const std::string& model, const RolloutRequest& request) {
  const bool abort = request.action == RolloutAction::kAbort;
  if (!request.version.empty()) {
    TERN_ASSIGN(const std::string current, CurrentVersion(model));
    if (VersionLess(current, request.version))
      return InvalidArgument("version ", request.version, " of model '", model, "' is newer than version ",
                             current, ", which answers now; use action 'pin'");
    return Pin(model, request.version, "rollback", WithReason("by request", request.reason));
  }
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  const std::string candidate = entry.release.candidate, stable = entry.release.stable;
  if (candidate.empty())
    return abort ? NoRollout(model)
                 : InvalidArgument("no rollout of model '", model,
                                   "' runs; name the 'version' to roll back to");
  const std::string reason = WithReason(abort ? "aborted by request" : "by request", request.reason);
  entry.release.SetStable(stable);
  entry.release.Reject(candidate, reason);
  Record(model, entry, {{0, abort ? "abort" : "rollback", candidate, reason}});
  return {};
}

Status Rollouts::Pin(const std::string& model, const std::string& version, const std::string& change,
                     const std::string& reason) {
  const Hold hold(*this, model, {version});
  TERN_TRY(Load(model, {version}));
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  entry.release.SetStable(version);
  for (const std::string& other : entry.existing)
    if (VersionLess(version, other) && !entry.release.IsRejected(other))
      entry.release.Reject(other, StrCat("version ", version, " was pinned: ", reason));
  entry.release.pinned = true;
  Record(model, entry, {{0, change, version, reason}});
  return {};
}

Status Rollouts::Unpin(const std::string& model) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  if (!entry.release.pinned && entry.release.rejected.empty())
    return InvalidArgument("model '", model, "' has no pinned and no rejected version");
  entry.release.pinned = false;
  entry.release.rejected.clear();
  Record(model, entry, {{0, "unpin", entry.release.stable, "by request"}});
  return {};
}

Status Rollouts::SetLabel(const std::string& model, const RolloutRequest& request) {
  if (!IsLabelName(request.label))
    return InvalidArgument("rollout request: 'label' is '", request.label,
                           "'; it must have at most 128 letters, digits and \"_.-\", and begin with a "
                           "letter or \"_\"");
  if (request.label == "stable" || request.label == "canary")
    return InvalidArgument("label '", request.label,
                           "' moves with the rollout: use the actions start, promote, rollback and pin");
  std::vector<std::string> versions;
  if (!request.version.empty()) versions.push_back(request.version);
  const Hold hold(*this, model, versions);
  TERN_TRY(Load(model, versions));
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  if (request.version.empty() && entry.release.labels.erase(request.label) == 0)
    return NotFound("model '", model, "' has no label '", request.label, "'");
  if (!request.version.empty()) entry.release.labels[request.label] = request.version;
  Record(model, entry,
         {{0, "label", request.version,
           WithReason(
               StrCat("label '", request.label, request.version.empty() ? "' is removed" : "' moves here"),
               request.reason)}});
  return {};
}

}  // namespace tern::server
