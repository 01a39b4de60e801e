#include "server/repository/repository.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <set>

#include "server/core/log.h"
#include "server/repository/many_loads.h"
#include "server/repository/model_loads.h"
#include "server/repository/repository_start.h"
#include "server/residency/budget_metrics.h"
#include "server/residency/memory_budget.h"
#include "server/store/remote.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kUnloadLimit{60};

class FolderRepository : public Repository {
 public:
  FolderRepository(const RepositoryOptions& options, Scheduler& scheduler, Registry& registry,
                   std::unique_ptr<BackendSource> backends, std::unique_ptr<RemoteRepositories> remote)
      : options_(options),
        remote_(std::move(remote)),
        backends_(std::move(backends)),
        budget_(options.memory_budget > 0
                    ? std::make_unique<MemoryBudget>(
                          BudgetOptions{options.memory_budget, options.load_threads}, scheduler)
                    : nullptr),
        loader_(options_, scheduler, registry, *backends_, budget_.get(), remote_.get()),
        loads_(loader_, scheduler, registry,
               [this](const std::string& model) { return !started_ && MustBeLoaded(model); }),
        threads_(std::make_shared<LoadThreads>(options.load_threads)) {}
  ~FolderRepository() override { Stop(std::chrono::seconds(30)); }

  Status Begin();
  std::vector<IndexEntry> Index(bool ready_only) override;
  Status Load(const std::string& model, const LoadOptions& options) override;
  Status Unload(const std::string& model, bool dependents) override;
  bool AllReady() const override { return started_; }
  Status StartError() const override;
  Status Reload(const std::string& model) override;
  void Stop(std::chrono::milliseconds limit) override;
  void AppendMetrics(MetricsText& text) const override {
    if (remote_) remote_->AppendMetrics(text);
    if (budget_) AppendBudget(budget_->state(), text);
  }

 private:
  Result<ModelSource> SourceOf(const std::string& model) const;
  std::vector<std::string> StartNames(const ModelSources& sources) const;
  // Returns whether the server does not start without the model. StartError reports its errors.
  bool MustBeLoaded(const std::string& model) const;
  // Returns false for a model that is loaded only because an ensemble needs it.
  bool Requested(const ModelSource& source) const;
  void LoadAtStart();
  // Copies the models to load at the start, and the steps of their ensembles, from remote repositories.
  void CopyAtStart();
  void CopySteps(const std::string& model, std::set<std::string>& seen);
  Status LoadTree(const std::string& model, const LoadOptions& options, bool requested, int depth);
  // Loads one model on the threads; fails after Stop.
  Status LoadOne(const ModelSource& source, const LoadOptions& options, bool requested);
  void UnloadDependents(const std::string& model);
  void ResumeDependents(const std::string& model);
  void PollLoop();
  void PollOnce();
  void UnloadMissing(const ModelSources& sources);

  const RepositoryOptions options_;                   // the folders are local
  const std::unique_ptr<RemoteRepositories> remote_;  // null: there are none
  std::unique_ptr<BackendSource> backends_;
  std::unique_ptr<MemoryBudget> budget_;  // null: no limit
  Loader loader_;
  ModelLoads loads_;
  ManyLoads many_{loader_, loads_, [this](const ModelSource& source) { return Requested(source); }};
  std::shared_ptr<LoadThreads> threads_;  // changed under the lock
  std::atomic<bool> started_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  Status remote_error_;            // why a remote repository could not be read at the start
  std::set<std::string> missing_;  // live models without a folder at the last scan; of the polling thread
  std::thread background_;         // loads the models at the start, then polls
};

Status FolderRepository::Begin() {
  TERN_TRY(ListModels(options_).status());
  background_ = std::thread([this] {
    LoadAtStart();
    if (options_.control == ControlMode::kPoll || (remote_ && options_.control == ControlMode::kExplicit))
      PollLoop();
  });
  return {};
}

Status FolderRepository::StartError() const {
  if (options_.must_load != MustLoad::kNone) {
    const std::lock_guard<std::mutex> lock(mutex_);
    TERN_TRY(Status(remote_error_));
  }
  return const_cast<ModelLoads&>(loads_).catalogue().Failures(
      [this](const std::string& model) { return MustBeLoaded(model); });
}

bool FolderRepository::MustBeLoaded(const std::string& model) const {
  if (options_.must_load != MustLoad::kFlatModels) return options_.must_load == MustLoad::kAll;
  return std::any_of(options_.models.begin(), options_.models.end(),
                     [&](const FlatModel& flat) { return flat.name == model; });
}

std::vector<std::string> FolderRepository::StartNames(const ModelSources& sources) const {
  const auto& wanted = options_.load_at_start;
  const bool all = options_.control != ControlMode::kExplicit ||
                   std::find(wanted.begin(), wanted.end(), "*") != wanted.end();
  std::set<std::string> names;
  for (const auto& [name, list] : sources) {
    const bool flat = std::any_of(list.begin(), list.end(), [](const ModelSource& s) { return s.flat; });
    if (all || flat) names.insert(name);
  }
  if (!all) names.insert(wanted.begin(), wanted.end());
  return {names.begin(), names.end()};
}

bool FolderRepository::Requested(const ModelSource& source) const {
  const auto& wanted = options_.load_at_start;
  return options_.control != ControlMode::kExplicit || source.flat ||
         std::find_if(wanted.begin(), wanted.end(), [&](const std::string& name) {
           return name == "*" || name == source.name;
         }) != wanted.end();
}

void FolderRepository::CopyAtStart() {
  const auto& wanted = options_.load_at_start;
  WantedModels some;
  if (options_.control == ControlMode::kExplicit &&
      std::find(wanted.begin(), wanted.end(), "*") == wanted.end())
    some = [&](const std::string& name) {
      return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    };
  Status status = remote_->Refresh(some, true);
  if (!status.ok() && status.code() != Code::kCancelled && options_.must_load == MustLoad::kNone)
    Log(LogLevel::kError, status.message());  // StartError reports it otherwise
  std::set<std::string> seen(wanted.begin(), wanted.end());
  if (some)
    for (const std::string& model : wanted) CopySteps(model, seen);
  const std::lock_guard<std::mutex> lock(mutex_);
  remote_error_ = std::move(status);
}

void FolderRepository::CopySteps(const std::string& model, std::set<std::string>& seen) {
  const auto source = SourceOf(model);
  if (!source.ok()) return;
  for (const std::string& step : loader_.StepsOf(*source, ""))
    if (seen.insert(step).second && remote_->Update(step).ok()) CopySteps(step, seen);
}

void FolderRepository::LoadAtStart() {
  if (remote_) CopyAtStart();
  if (auto sources = ListModels(options_); sources.ok()) {
    std::vector<std::string> names = StartNames(*sources);
    // The steps of ensembles are loaded too. They are appended to `names` during the loop.
    std::set<std::string> seen(names.begin(), names.end());
    for (size_t i = 0; i < names.size(); ++i)
      if (const auto it = sources->find(names[i]); it != sources->end() && it->second.size() == 1)
        for (const std::string& step : loader_.StepsOf(it->second[0], ""))
          if (sources->count(step) && seen.insert(step).second) names.push_back(step);
    many_.Load(*threads_, *sources, names, {});
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  started_ = true;
  changed_.notify_all();
}

std::vector<IndexEntry> FolderRepository::Index(bool ready_only) {
  std::set<std::string> existing;
  if (auto sources = ListModels(options_); sources.ok())
    for (const auto& [name, list] : *sources) existing.insert(name);
  return loads_.catalogue().Index(existing, ready_only);
}

Result<ModelSource> FolderRepository::SourceOf(const std::string& model) const {
  TERN_TRY(CheckModelName(model));
  TERN_ASSIGN(ModelSources sources, ListModels(options_));
  const auto it = sources.find(model);
  if (it == sources.end()) return MissingModel(model);
  if (it->second.size() != 1) return AmbiguousModel(model, it->second.size());
  return it->second[0];
}

Status FolderRepository::Load(const std::string& model, const LoadOptions& options) {
  TERN_TRY(CheckModelName(model));
  if (options_.control != ControlMode::kExplicit)
    return Unavailable("explicit model load / unload is not allowed if polling is enabled");
  if (!options.files.empty() && options.config.empty())
    return InvalidArgument("files of model '", model, "' need a configuration: parameter 'config'");
  return LoadTree(model, options, true, 0);
}

// Loads the steps of the model that are not loaded yet, if it is an ensemble, then the model.
Status FolderRepository::LoadTree(const std::string& model, const LoadOptions& options, bool requested,
                                  int depth) {
  if (depth > 16) return InvalidArgument("model '", model, "': ensembles are nested deeper than 16");
  if (remote_) {
    const Status copied = remote_->Update(model);
    if (!copied.ok())
      return Status(copied.code(), StrCat("failed to load '", model, "': ", copied.message()));
  }
  auto found = SourceOf(model);
  // If the request sends all files of a model, the model needs no folder.
  if (!found.ok() && (found.status().code() != Code::kNotFound || options.files.empty()))
    return found.TakeStatus();
  const ModelSource source = found.ok() ? *found : ModelSource{model, "", "", false};
  for (const std::string& step : loader_.StepsOf(source, options.config))
    if (step != model && !loads_.catalogue().Live(step)) TERN_TRY(LoadTree(step, {}, false, depth + 1));
  TERN_TRY(LoadOne(source, options, requested));
  ResumeDependents(model);
  return {};
}

Status FolderRepository::LoadOne(const ModelSource& source, const LoadOptions& options, bool requested) {
  std::shared_ptr<LoadThreads> threads;  // shared with Stop, which waits for their work
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return Unavailable("Server exiting");
    threads = threads_;
  }
  return threads->Run([&] { return loads_.Load(source, options, requested); });
}

Status FolderRepository::Unload(const std::string& model, bool dependents) {
  TERN_TRY(CheckModelName(model));
  if (options_.control != ControlMode::kExplicit)
    return Unavailable("explicit model load / unload is not allowed if polling is enabled");
  auto& catalogue = loads_.catalogue();
  catalogue.Forget(model);
  if (!catalogue.Live(model) && !loads_.Published(model)) return {};
  const std::vector<std::string> steps = catalogue.With(model, [](CatalogueEntry& e) { return e.steps; });
  UnloadDependents(model);
  loads_.Unload(model, "unloaded", kUnloadLimit);
  if (!dependents) return {};
  for (const std::string& step : steps) {
    const bool requested = catalogue.With(step, [](CatalogueEntry& e) { return e.requested; });
    if (!requested && catalogue.Live(step) && catalogue.Dependents(step).empty())
      TERN_TRY(Unload(step, true));
  }
  return {};
}

// Unloads all ensembles that have this model as a step, because they cannot run without it.
void FolderRepository::UnloadDependents(const std::string& model) {
  for (const std::string& ensemble : loads_.catalogue().Dependents(model))
    if (ensemble != model) {
      UnloadDependents(ensemble);
      // Files that came with a load request are gone with the ensemble.
      auto suspended = loads_.catalogue().With(ensemble, [](CatalogueEntry& e) {
        std::optional<CatalogueEntry::Suspended> state;
        if (!e.folder) state = {e.steps, e.config, e.requested};
        return state;
      });
      loads_.Unload(ensemble,
                    StrCat("ensemble '", ensemble, "' depends on '", model, "' which has no loaded version"),
                    kUnloadLimit);
      loads_.catalogue().With(ensemble, [&](CatalogueEntry& e) {
        if (e.live.empty()) e.suspended = std::move(suspended);
      });
    }
}

// Loads the ensembles again that were unloaded with this model, if their other steps are loaded too.
void FolderRepository::ResumeDependents(const std::string& model) {
  auto& catalogue = loads_.catalogue();
  for (const std::string& ensemble : catalogue.SuspendedOn(model)) {
    const auto state = catalogue.With(ensemble, [](CatalogueEntry& e) { return e.suspended; });
    if (!state || !std::all_of(state->steps.begin(), state->steps.end(),
                               [&](const std::string& step) { return catalogue.Live(step); }))
      continue;
    const auto source = SourceOf(ensemble);
    LoadOptions options;
    options.config = state->config;
    if (source.ok() && LoadOne(*source, options, state->requested).ok()) ResumeDependents(ensemble);
  }
}

void FolderRepository::PollLoop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, options_.poll_interval, [&] { return stopped_; })) {
    lock.unlock();
    const bool explicitly = options_.control == ControlMode::kExplicit;
    // With explicit control, only learns the names of new models.
    if (remote_)
      (void)remote_->Refresh(explicitly ? [](const std::string&) { return false; } : WantedModels(), false)
          .ok();
    if (!explicitly) PollOnce();
    lock.lock();
  }
}

void FolderRepository::PollOnce() {
  const auto sources = ListModels(options_);
  if (!sources.ok()) return;  // if a repository cannot be read for a moment, its models stay loaded
  std::vector<std::string> changed;
  for (const auto& [name, list] : *sources) {
    if (many_.InFlight({name})) continue;
    const ModelSource& source = list[0];
    const std::string now = list.size() == 1 ? Fingerprint(source.file.empty() ? source.folder : source.file)
                                             : StrCat(list.size(), " repositories");
    const std::string before = loads_.catalogue().With(name, [](CatalogueEntry& e) { return e.fingerprint; });
    if (now == before) continue;
    if (list.size() != 1) loads_.catalogue().With(name, [&](CatalogueEntry& e) { e.fingerprint = now; });
    changed.push_back(name);
  }
  UnloadMissing(*sources);
  if (changed.empty()) return;
  // Tries ensembles that failed before, because their steps may exist now.
  for (const auto& [name, list] : *sources)
    if (std::find(changed.begin(), changed.end(), name) == changed.end() && !loads_.catalogue().Live(name) &&
        list.size() == 1 && !loader_.StepsOf(list[0], "").empty() && !many_.InFlight({name}))
      changed.push_back(name);
  many_.Load(*threads_, *sources, changed, options_.poll_patience);
}

Status FolderRepository::Reload(const std::string& model) {
  TERN_ASSIGN(const auto last, loads_.LastLoad(model));
  TERN_ASSIGN(const ModelSource source, SourceOf(model));
  return LoadOne(source, last.first, last.second);
}

// Unloads models whose folders are gone. Folders are also missing for a moment while a repository is being
// replaced or its file system is not mounted. So a model stays until it is missing in two scans, and all
// models stay if no model is left at all. A model stays while it or an ensemble that uses it is being loaded.
void FolderRepository::UnloadMissing(const ModelSources& sources) {
  std::set<std::string> missing;
  for (const std::string& model : loads_.catalogue().Models())
    if (!sources.count(model) && loads_.catalogue().Live(model)) missing.insert(model);
  missing.swap(missing_);
  if (sources.empty() && !missing_.empty()) {
    if (missing.empty()) Log(LogLevel::kWarning, "the model repository is empty; the loaded models stay");
    return;
  }
  for (const std::string& model : missing_) {
    if (!missing.count(model) || many_.InFlight({model})) continue;
    if (many_.InFlight(loads_.catalogue().Dependents(model))) continue;
    UnloadDependents(model);
    loads_.Unload(model, "unloaded", kUnloadLimit);
    loads_.catalogue().With(model, [](CatalogueEntry& e) { e.fingerprint.clear(); });
  }
}

void FolderRepository::Stop(std::chrono::milliseconds limit) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    changed_.notify_all();
    threads_->Cancel();
  }
  if (remote_) remote_->Stop();
  if (background_.joinable()) background_.join();
  std::shared_ptr<LoadThreads> threads;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads.swap(threads_);
  }
  threads.reset();
  const auto end = Clock::now() + limit;
  loads_.FinishRetiring(limit);
  for (const std::string& model : loads_.catalogue().Models()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    loads_.Unload(model, "unloaded", std::max(left, std::chrono::milliseconds(0)));
  }
  if (budget_) budget_->Stop();
}

}  // namespace

Result<std::unique_ptr<Repository>> StartRepository(const RepositoryOptions& options, Scheduler& scheduler,
                                                    Registry& registry,
                                                    std::unique_ptr<BackendSource> backends) {
  RepositoryOptions local = options;
  TERN_ASSIGN(std::unique_ptr<RemoteRepositories> remote,
              RemoteRepositories::Open(options.store, local.folders));
  auto repository =
      std::make_unique<FolderRepository>(local, scheduler, registry, std::move(backends), std::move(remote));
  TERN_TRY(repository->Begin());
  return std::unique_ptr<Repository>(std::move(repository));
}

Result<std::unique_ptr<Repository>> Repository::Start(const RepositoryOptions& options, Scheduler& scheduler,
                                                      Registry& registry) {
  return StartRepository(options, scheduler, registry, FindBackends(options.backend_folder));
}

}  // namespace tern::server
