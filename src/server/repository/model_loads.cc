#include "server/repository/model_loads.h"

#include <algorithm>
#include <utility>

#include "server/core/log.h"
#include "server/repository/peak_memory.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kSwapLimit{60};  // time for requests that the old versions accepted
constexpr std::chrono::milliseconds kRetiringPoll{5};
// Limits the loads and unloads of a model whose old versions still exist. At the limit, the next load waits
// up to kEndedLimit, because a version without requests is destroyed soon.
constexpr size_t kMaxEnded = 4;
constexpr std::chrono::seconds kEndedLimit{2};

std::vector<std::weak_ptr<ModelVersion>> WeakVersions(const LiveVersions& versions) {
  std::vector<std::weak_ptr<ModelVersion>> out;
  for (const auto& [number, version] : versions) out.push_back(version.model);
  return out;
}

// Removes expired references to old versions. Returns the number of loads and unloads whose old versions
// still exist.
size_t CountEnded(CatalogueEntry& entry) {
  for (auto& versions : entry.ended)
    std::erase_if(versions, [](const auto& version) { return version.expired(); });
  std::erase_if(entry.ended, [](const auto& versions) { return versions.empty(); });
  return entry.ended.size();
}

std::vector<std::shared_ptr<ModelVersion>> Sorted(const LiveVersions& versions) {
  std::vector<std::shared_ptr<ModelVersion>> out;
  for (const auto& [number, version] : versions) out.push_back(version.model);
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return VersionLess(a->version(), b->version()); });
  return out;
}

Status Summary(const std::string& model, const std::map<std::string, Status>& failures) {
  if (failures.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [version, status] : failures)
    parts.push_back(StrCat("version ", version, " is at UNAVAILABLE state: ", status.message()));
  return Status(failures.begin()->second.code(), StrCat("failed to load '", model, "', ", Join(parts, "; ")));
}

}  // namespace

std::mutex& ModelLoads::MutexOf(const std::string& model) {
  const std::lock_guard<std::mutex> lock(mutexes_guard_);
  auto& mutex = mutexes_[model];
  if (!mutex) mutex = std::make_unique<std::mutex>();
  return *mutex;
}

Status ModelLoads::Load(const ModelSource& source, const LoadOptions& options, bool requested) {
  std::unique_lock<std::mutex> lock(MutexOf(source.name), std::try_to_lock);
  if (!lock.owns_lock()) {
    // The other load may run trials for long.
    const LoadThreads::Waiting others(StrCat("another load of model '", source.name, "'"));
    lock.lock();
  }
  const std::string& name = source.name;
  TERN_TRY(AwaitEnded(name));
  ModelSource from = source;
  std::shared_ptr<TemporaryFolder> folder;
  if (!options.files.empty()) {
    TERN_ASSIGN(folder, TemporaryFolder::Create(options.files));
    from = {name, folder->path(), "", false};
  }
  const std::string fingerprint = Fingerprint(source.file.empty() ? source.folder : source.file);
  const auto begin = Clock::now();
  PeakMemory memory;
  const Gap gap = OpenGap(from, options.config);
  auto result = Guard([&] {
    const LiveVersions live = catalogue_.With(name, [](CatalogueEntry& e) { return e.live; });
    return loader_.Load(from, options.config, live, [&](const std::string& version) {
      catalogue_.With(name, [&](CatalogueEntry& e) {
        if (!e.live.count(version)) e.versions[version] = {ModelState::kLoading, ""};
      });
    });
  });
  if (!gap.closed.empty() && (!result.ok() || !result->failures.empty())) RestoreVersions(name, gap);
  Status status;
  if (result.ok()) {
    result->config = options.config;
    Report(name, *result, memory.Stop(), gap, Clock::now() - begin);
    status = Swap(name, std::move(*result), std::move(folder), fingerprint, requested);
  } else {
    status = HidePaths(result.TakeStatus(), from);
    catalogue_.With(name, [&](CatalogueEntry& e) { e.fingerprint = fingerprint; });
    Fail(name, status);
    status = Status(status.code(), StrCat("failed to load '", name, "': ", status.message()));
  }
  CloseGap(name, gap);
  return status;
}

void ModelLoads::LogFailure(const std::string& model, const std::string& message) const {
  Log(reported_(model) ? LogLevel::kVerbose : LogLevel::kError, message);
}

// Records an error. Live versions stay. If there are none, the index shows the error.
void ModelLoads::Fail(const std::string& model, const Status& status) {
  LogFailure(model, StrCat("model '", model, "' is not loaded: ", status.message()));
  catalogue_.With(model, [&](CatalogueEntry& e) {
    e.error = status.message();
    if (e.live.empty()) e.versions.clear();
  });
}

Result<std::pair<LoadOptions, bool>> ModelLoads::LastLoad(const std::string& model) {
  if (!catalogue_.Live(model)) return NotFound("model '", model, "' is not loaded");
  std::pair<LoadOptions, bool> last;
  const bool sent = catalogue_.With(model, [&](CatalogueEntry& e) {
    last.first.config = e.config;
    last.second = e.requested;
    return e.folder != nullptr;
  });
  if (sent) return Unsupported("the files of model '", model, "' came with a load request");
  return last;
}

void ModelLoads::Refuse(const std::string& model, const Status& status) {
  const std::lock_guard<std::mutex> lock(MutexOf(model));
  Fail(model, status);
}

Status ModelLoads::Swap(const std::string& model, LoadResult result, std::shared_ptr<TemporaryFolder> folder,
                        const std::string& fingerprint, bool requested) {
  const Status status = Summary(model, result.failures);
  LiveVersions old = catalogue_.With(model, [](CatalogueEntry& e) { return e.live; });
  const bool keep = !status.ok() && !old.empty();
  if (!status.ok()) LogFailure(model, status.message());
  for (const auto& [version, live] : result.versions)
    Log(LogLevel::kVerbose, StrCat("model '", model, "' version ", version, " is loaded"));
  if (!keep) registry_.Publish(model, Sorted(result.versions));
  const LiveVersions& ended = keep ? result.versions : old;
  const LiveVersions& ready = keep ? old : result.versions;
  std::shared_ptr<TemporaryFolder> replaced = folder;
  catalogue_.With(model, [&](CatalogueEntry& e) {
    e.fingerprint = fingerprint;
    e.error = status.message();
    e.versions.clear();
    for (const auto& [version, failure] : result.failures)
      e.versions[version] = {ModelState::kUnavailable, failure.message()};
    for (const auto& [version, live] : ready) e.versions[version].state = ModelState::kReady;
    if (keep) return;
    e.live = ready;
    e.steps = std::move(result.steps);
    e.config = std::move(result.config);
    e.suspended.reset();
    e.requested |= requested;
    std::swap(e.folder, replaced);
  });
  LiveVersions gone;
  for (const auto& [version, model_version] : ended) {
    const auto same = ready.find(version);
    if (same == ready.end() || same->second.model != model_version.model) gone[version] = model_version;
  }
  if (!gone.empty())
    catalogue_.With(model, [&](CatalogueEntry& e) { e.ended.push_back(WeakVersions(gone)); });
  for (const auto& [version, model_version] : gone) Retire(model_version, replaced);
  return status;
}

void ModelLoads::Retire(const LiveVersion& version, std::shared_ptr<TemporaryFolder> folder) {
  const std::lock_guard<std::mutex> lock(retiring_guard_);
  retiring_versions_.push_back(
      {std::move(folder), version.origin.kept, version.model, Clock::now() + kSwapLimit});
  if (!std::exchange(watching_, true)) retiring_->Post([this] { WatchRetiring(); });
}

// Releases versions that have answered their requests, until none is left.
void ModelLoads::WatchRetiring() {
  std::unique_lock<std::mutex> lock(retiring_guard_);
  while (!retiring_versions_.empty()) {
    const Clock::time_point now = Clock::now();
    std::vector<Retiring> ended, busy;
    for (Retiring& entry : retiring_versions_) {
      const bool ends = entry.deadline <= now || scheduler_.Retired(entry.version);
      (ends ? ended : busy).push_back(std::move(entry));
    }
    retiring_versions_ = std::move(busy);
    lock.unlock();
    for (const Retiring& entry : ended)
      if (entry.deadline <= now) scheduler_.Retire(entry.version, std::chrono::milliseconds(0));
    const bool waits = ended.empty();
    ended.clear();  // the destruction of a model may take long
    if (waits) std::this_thread::sleep_for(kRetiringPoll);
    lock.lock();
  }
  watching_ = false;
  retired_.notify_all();
}

void ModelLoads::FinishRetiring(std::chrono::milliseconds limit) {
  std::vector<Retiring> late;
  {
    std::unique_lock<std::mutex> lock(retiring_guard_);
    retired_.wait_for(lock, limit, [&] { return !watching_; });
    late.swap(retiring_versions_);
  }
  for (const Retiring& entry : late) scheduler_.Retire(entry.version, std::chrono::milliseconds(0));
  late.clear();
  retiring_.reset();
}

// The last reference to a version may be anywhere, for example in a response that is being sent. So this
// function cannot wait for an event.
Status ModelLoads::AwaitEnded(const std::string& model) {
  const auto end = Clock::now() + kEndedLimit;
  while (true) {
    const size_t ended = catalogue_.With(model, CountEnded);
    if (ended < kMaxEnded) return {};
    if (Clock::now() >= end) {
      const Status status = Unavailable("failed to load '", model, "': requests still use the versions of ",
                                        ended, " earlier loads; try again when these requests have ended");
      Log(LogLevel::kWarning, status.message());
      return status;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void ModelLoads::Unload(const std::string& model, const std::string& reason,
                        std::chrono::milliseconds limit) {
  const std::lock_guard<std::mutex> lock(MutexOf(model));
  const LiveVersions live = catalogue_.With(model, [](CatalogueEntry& e) {
    for (const auto& [version, unused] : e.live) e.versions[version] = {ModelState::kUnloading, ""};
    return e.live;
  });
  if (!live.empty()) registry_.Publish(model, {});
  for (const auto& [version, model_version] : live) {
    scheduler_.Remove(model_version.model, limit);
    Log(LogLevel::kVerbose, StrCat("model '", model, "' version ", version, " is unloaded"));
  }
  std::shared_ptr<TemporaryFolder> folder;
  catalogue_.With(model, [&](CatalogueEntry& e) {
    for (const auto& [version, unused] : live) e.versions[version] = {ModelState::kUnavailable, reason};
    if (!live.empty()) e.ended.push_back(WeakVersions(live));
    e.live.clear();
    e.steps.clear();
    e.config.clear();
    e.suspended.reset();
    e.requested = false;
    std::swap(e.folder, folder);
  });
}

}  // namespace tern::server
