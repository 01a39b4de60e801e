#include "server/rollout/rollouts.h"

#include <algorithm>

#include "server/core/log.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr size_t kMaxCounters = 16;  // versions of a model that the metrics remember

int64_t SecondsSinceEpoch() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

std::shared_ptr<ModelVersion> FindVersion(const std::vector<std::shared_ptr<ModelVersion>>& versions,
                                          const std::string& version) {
  for (const auto& entry : versions)
    if (entry->version() == version) return entry;
  return nullptr;
}

// Copies of a stream of responses, or of a part of a sequence, cannot be compared.
bool CanMirror(const ModelConfig& config) { return !config.decoupled && !config.sequence; }

}  // namespace

Result<std::unique_ptr<Rollouts>> Rollouts::Create(const RolloutsOptions& options, Registry& registry) {
  std::unique_ptr<Rollouts> rollouts(new Rollouts(options, registry));
  if (!options.state_file.empty()) {
    TERN_ASSIGN(Releases releases, ReadReleases(options.state_file));
    for (auto& [model, release] : releases) rollouts->entries_[model].release = std::move(release);
  }
  registry.SetRouter([self = rollouts.get()](const std::string& model, const Versions& versions) {
    const std::lock_guard lock(self->mutex_);
    return self->MakeRoute(model, self->entries_[model], versions);
  });
  return rollouts;
}

Rollouts::~Rollouts() {
  Stop();
  registry_.SetRouter({});
}

void Rollouts::Start(Reload reload) {
  reload_ = std::move(reload);
  thread_ = std::thread([this] { Loop(); });
}

void Rollouts::Loop() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kTick, [&] { return stopped_; })) {
    lock.unlock();
    Tick(Clock::now());
    lock.lock();
  }
}

void Rollouts::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  reloads_->Stop();
  std::vector<Running> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [model, entry] : entries_) EndTrial(entry);
    ended.swap(ended_);
  }
  for (const Running& running : ended)
    if (running.mirror) running.mirror->Stop();
  Save();
}

void Rollouts::Select(const std::string& model, const VersionChoice& choice,
                      std::vector<std::string>& selected) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[model];
  entry.existing = choice.existing;
  SelectForRelease(entry.release, choice, selected);
  for (const std::string& version : entry.extra)
    if (std::find(choice.existing.begin(), choice.existing.end(), version) != choice.existing.end() &&
        std::find(selected.begin(), selected.end(), version) == selected.end())
      selected.push_back(version);
  entry.selected = selected;
}

void Rollouts::Record(const std::string& model, Entry& entry, std::vector<ReleaseEvent> events) {
  for (ReleaseEvent& event : events) {
    event.time = SecondsSinceEpoch();
    Log(event.change == "rollback" ? LogLevel::kWarning : LogLevel::kInfo,
        StrCat("rollout of model '", model, "': ", event.change, " version ", event.version, ": ",
               event.reason));
    ++entry.changes[event.change];
    entry.release.Add(std::move(event));
    dirty_ = true;
  }
}

std::shared_ptr<VersionCounters> Rollouts::CountersOf(Entry& entry, const std::string& version) {
  auto& counters = entry.counters[version];
  if (!counters) counters = std::make_shared<VersionCounters>();
  const auto result = counters;
  while (entry.counters.size() > kMaxCounters) {
    const auto oldest = std::min_element(entry.counters.begin(), entry.counters.end(),
                                         [](auto& a, auto& b) { return VersionLess(a.first, b.first); });
    if (oldest->first == version) break;
    entry.counters.erase(oldest);
  }
  return result;
}

Result<RolloutPolicy> Rollouts::PolicyOf(const Entry& entry, const ModelVersion& candidate) const {
  const auto& parameters = candidate.config().parameters;
  const auto found = parameters.find(kRolloutParameter);
  RolloutPolicy policy;
  if (!entry.release.policy.empty()) {
    TERN_ASSIGN(policy, ParsePolicy(entry.release.policy));
  } else if (found != parameters.end()) {
    TERN_ASSIGN(policy, ParsePolicy(found->second));
  }
  // Without copies, the candidate must answer requests from the first step on.
  if (!CanMirror(candidate.config()) && policy.steps.front() == 0) policy.steps.erase(policy.steps.begin());
  if (policy.steps.empty()) policy.steps = RolloutPolicy().steps;
  if (!CanMirror(candidate.config()) && policy.steps.front() == 0) policy.steps.erase(policy.steps.begin());
  return policy;
}

void Rollouts::EnsureTrial(const std::string& model, Entry& entry, const Versions& versions) {
  const auto stable = FindVersion(versions, entry.release.stable),
             candidate = FindVersion(versions, entry.release.candidate);
  if (!stable || !candidate) return EndTrial(entry);
  if (entry.running && entry.running->stable == stable && entry.running->candidate == candidate) return;
  EndTrial(entry);
  auto policy = PolicyOf(entry, *candidate);
  if (!policy.ok()) {  // for example, another version of Tern wrote the state file
    Log(LogLevel::kError, StrCat("rollout of model '", model, "': ", policy.status().message()));
    return;
  }
  Running running;
  running.stable = stable;
  running.candidate = candidate;
  running.trial = std::make_shared<Trial>(*policy, CanMirror(candidate->config()),
                                          StrCat(model, "/", candidate->version()), Clock::now());
  running.trial->SetStep(entry.release.step, entry.release.weight, Clock::now());
  TrialParts parts{running.trial,
                   stable,
                   candidate,
                   CountersOf(entry, stable->version()),
                   CountersOf(entry, candidate->version()),
                   nullptr};
  if (running.trial->mirrors())
    parts.mirror = std::make_shared<RequestMirror>(
        *policy, stable, candidate, parts.candidate_counters,
        [trial = running.trial](const MirrorResult& result, const std::string& error) {
          trial->OnMirrored(result, error);
        });
  running.mirror = parts.mirror;
  running.arms = MakeArms(std::move(parts));
  entry.running = std::move(running);
}

void Rollouts::EndTrial(Entry& entry) {
  if (!entry.running) return;
  ended_.push_back(std::move(*entry.running));
  entry.running.reset();
}

// The registry waits for the result and publishes it, so nothing here may block.
VersionRoute Rollouts::MakeRoute(const std::string& model, Entry& entry, const Versions& versions) {
  VersionRoute route;
  if (versions.empty() || stopped_) {
    EndTrial(entry);
    return route;
  }
  Release& release = entry.release;
  std::vector<std::string> loaded;
  for (const auto& version : versions) loaded.push_back(version->version());
  const bool automatic = versions.back()->config().parameters.contains(kRolloutParameter);
  // While a version is a placeholder, the release does not change.
  const bool loading =
      std::any_of(versions.begin(), versions.end(), [](const auto& v) { return v->placeholder(); });
  if (entry.extra.empty() && !loading) {
    auto events = UpdateRelease(release, automatic, loaded);
    if (std::any_of(events.begin(), events.end(), [](const auto& e) { return e.change != "start"; }))
      stale_.insert(model);
    Record(model, entry, std::move(events));
  }
  if (release.candidate.empty())
    EndTrial(entry);
  else
    EnsureTrial(model, entry, versions);
  for (const auto& [label, version] : release.labels) route.labels[label] = {version, nullptr};
  if (release.stable.empty()) return route;
  route.unversioned = FindVersion(versions, release.stable);
  route.labels["stable"] = {release.stable, nullptr};
  if (!release.candidate.empty()) route.labels["canary"] = {release.candidate, nullptr};
  if (entry.running) {
    route.unversioned = entry.running->arms.splitter;
    route.labels["stable"].through = entry.running->arms.stable;
  }
  return route;
}

void Rollouts::Tick(Clock::time_point now) {
  std::vector<std::pair<std::string, Running>> running;
  std::vector<Running> ended;
  std::set<std::string> stale;
  bool dirty = false;
  {
    const std::lock_guard lock(mutex_);
    stale.swap(stale_);
    for (const auto& [model, entry] : entries_)
      if (entry.running) running.emplace_back(model, *entry.running);
    ended.swap(ended_);
    dirty = dirty_;
  }
  for (const Running& old : ended)
    if (old.mirror) old.mirror->Stop();
  ended.clear();
  for (const auto& [model, trial] : running) {
    if (trial.mirror) trial.mirror->Sweep(now);
    const auto hang = std::chrono::duration<double>(trial.trial->policy().hang_seconds);
    trial.arms.live->Sweep(now - std::chrono::duration_cast<Clock::duration>(hang));
    const Decision decision = trial.trial->Decide(now);
    if (decision.move != Move::kNone) Apply(model, trial.trial, decision);
  }
  if (dirty) Save();
  for (const std::string& model : stale) ReloadLater(model);
}

void Rollouts::Apply(const std::string& model, const std::shared_ptr<Trial>& trial,
                     const Decision& decision) {
  bool reroute = false;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[model];
    if (!entry.running || entry.running->trial != trial) return;
    Release& release = entry.release;
    const std::string candidate = release.candidate;
    const std::string against = StrCat("against version ", release.stable, ": ", decision.reason);
    if (decision.move == Move::kNextStep) {
      trial->SetStep(++release.step, {}, Clock::now());
      Record(model, entry, {{0, "step", candidate, StrCat("weight ", trial->weight(), " %, ", against)}});
    } else if (decision.move == Move::kPromote) {
      release.SetStable(candidate);
      Record(model, entry, {{0, "promote", candidate, against}});
    } else if (decision.move == Move::kRollback) {
      const std::string stable = release.stable;
      release.SetStable(stable);
      release.Reject(candidate, decision.reason);
      Record(model, entry, {{0, "rollback", candidate, against}});
    } else {
      Record(model, entry, {{0, "hold", candidate, against}});
    }
    reroute = decision.move == Move::kPromote || decision.move == Move::kRollback;
  }
  if (reroute) registry_.Reroute(model);
  Save();
  if (reroute) ReloadLater(model);
}

// Reloads the model on another thread: unloads versions that are no longer needed, and loads those that the
// version policy selects. Does nothing if such a reload is already waiting.
void Rollouts::ReloadLater(const std::string& model) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !reload_ || !reloading_.insert(model).second) return;
  }
  const bool posted = reloads_->Post([this, model] {
    {
      const std::lock_guard lock(mutex_);
      reloading_.erase(model);
    }
    const Status status = reload_(model);
    if (!status.ok())
      Log(LogLevel::kWarning,
          StrCat("rollout of model '", model, "': versions are not loaded or unloaded: ", status.message()));
  });
  if (posted) return;
  const std::lock_guard lock(mutex_);
  reloading_.erase(model);
}

void Rollouts::Save() {
  if (options_.state_file.empty()) return;
  const std::lock_guard saving(saving_);
  Releases releases;
  {
    const std::lock_guard lock(mutex_);
    if (!dirty_) return;
    for (const auto& [model, entry] : entries_)
      if (!entry.release.empty()) releases[model] = entry.release;
    dirty_ = false;
  }
  const Status status = WriteReleases(options_.state_file, releases);
  const std::lock_guard lock(mutex_);
  if (!status.ok() && save_error_.empty())
    Log(LogLevel::kError, StrCat("the state of rollouts is not kept: ", status.message()));
  if (!status.ok()) dirty_ = true;  // the thread tries again
  save_error_ = status.ok() ? "" : status.message();
}

}  // namespace tern::server
