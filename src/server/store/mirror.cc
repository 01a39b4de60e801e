#include "server/store/mirror.h"

#include <algorithm>
#include <set>
#include <thread>

#include "data/file.h"
#include "server/core/log.h"
#include "server/repository/config.h"
#include "server/store/sums.h"
#include "server/store/times.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr size_t kThreads = 4;
constexpr uint64_t kMaxSums = 4 << 20;  // bytes of a SHA256SUMS
constexpr seconds kKeepReplaced{600};   // requests may still read a copy that was replaced
constexpr seconds kMostBackOff{600};    // longest time between two attempts to copy a broken version
constexpr size_t kQuotedKeys = 3;

std::string NameOf(const std::string& model, const std::string& unit) {
  return unit.empty() ? StrCat("model '", model, "'") : StrCat("model '", model, "' version ", unit);
}

// Returns the files of a unit in the current copy. The unit "" has the files that belong to no version.
CopiedFiles FilesOf(const CopiedFiles& current, const std::string& unit) {
  CopiedFiles out;
  for (const auto& [path, file] : current) {
    const std::string folder = path.substr(0, path.find('/'));
    const bool version = folder.size() < path.size() && IsVersion(folder);
    if (unit.empty() ? !version : folder == unit && version) out.emplace(path, file);
  }
  return out;
}

bool SameFiles(const RemoteUnit& unit, const CopiedFiles& current) {
  if (unit.files.size() != current.size()) return false;
  return std::all_of(unit.files.begin(), unit.files.end(), [&](const ObjectInfo& file) {
    const auto known = current.find(file.path);
    return known != current.end() && known->second.version == VersionId(file);
  });
}

bool SameCopies(const CopiedFiles& a, const CopiedFiles& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.version == y.second.version && x.second.sha256 == y.second.sha256;
  });
}

}  // namespace

Result<RemoteListing> Mirror::List(const std::string& folder, const Stop& stop) {
  std::vector<ObjectInfo> objects;
  const Status status = Retry(retry(), stop, &counters_.transfers.retries, [&]() -> Status {
    TERN_ASSIGN(objects, store_->List(folder, stop));
    return {};
  });
  if (status.code() == Code::kCancelled) return status;
  counters_.reachable = status.ok();
  const bool failed_before = failing_.exchange(!status.ok());
  if (status.ok()) {
    counters_.listed = UnixNow();
    if (failed_before) Log(LogLevel::kInfo, StrCat("repository ", url_, " can be read again"));
    return SortListing(std::move(objects));
  }
  counters_.failed_listings.fetch_add(1);
  if (!failed_before)
    Log(LogLevel::kError,
        StrCat("repository ", url_, " cannot be read, its models stay as they are: ", status.message()));
  return status;
}

void Mirror::RemoveGone(const RemoteListing& listing, bool start) {
  const auto now = Stop::Clock::now();
  for (const std::string& model : cache_->Models()) {
    if (listing.models.count(model)) {
      gone_.erase(model);
      continue;
    }
    const auto since = gone_.emplace(model, now).first->second;
    if (!start && now - since < options_.settle) continue;
    gone_.erase(model);
    cache_->Remove(model);
  }
}

void Mirror::ForgetGone(const RemoteListing& listing) {
  std::set<std::string> gone;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [name, state] : units_) gone.insert(name.substr(0, name.find('/')));
  }
  for (const std::string& model : gone)
    if (!listing.models.count(model)) ForgetOthers(model, {});
}

Status Mirror::Refresh(const WantedModels& wanted, bool start, const Stop& stop) {
  const auto end = Stop::Clock::now() + options_.settle + seconds(2);
  for (bool first = true;; first = false) {
    TERN_ASSIGN(const RemoteListing listing, List("", stop));
    if (first && start && !listing.ignored.empty()) {
      std::vector<std::string> some(listing.ignored.begin(),
                                    listing.ignored.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                  kQuotedKeys, listing.ignored.size())));
      Log(LogLevel::kVerbose, StrCat("repository ", url_, " has ", listing.ignored.size(),
                                     " objects outside folders of models: ", Join(some, ", ")));
    }
    RemoveGone(listing, start && first);
    ForgetGone(listing);
    for (const auto& [model, remote] : listing.models) {
      const Status named = cache_->AddName(model);
      if (!named.ok()) Note(model, "", named);
    }
    CopyAll(listing, wanted, stop);
    TERN_TRY(stop.Check());
    cache_->RemoveReplaced(kKeepReplaced);
    counters_.cache_bytes = cache_->Bytes();
    if (!start || counters_.waiting == 0 || Stop::Clock::now() >= end) return {};
    TERN_TRY(Pause(std::clamp<milliseconds>(options_.settle / 4, milliseconds(50), seconds(1)), stop));
  }
}

void Mirror::CopyAll(const RemoteListing& listing, const WantedModels& wanted, const Stop& stop) {
  std::vector<std::pair<const std::string*, const RemoteModel*>> work;
  for (const auto& [model, remote] : listing.models)
    if (!wanted || wanted(model)) work.emplace_back(&model, &remote);
  std::atomic<size_t> next{0};
  const auto copy = [&] {
    for (size_t i; (i = next.fetch_add(1)) < work.size() && stop.Check().ok();) {
      const auto& [model, remote] = work[i];
      (void)Guard([&] {
        return Copy(*model, *remote, Haste::kSettle, stop);
      }).ok();  // Note has recorded errors
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(kThreads, work.size()); ++i) threads.emplace_back(copy);
  copy();
  for (std::thread& thread : threads) thread.join();
}

Status Mirror::Update(const std::string& model, const Stop& stop) {
  const auto listing = List(model, stop);
  if (!listing.ok()) {
    if (listing.status().code() == Code::kCancelled || !cache_->Has(model)) return listing.status();
    Log(LogLevel::kWarning,
        StrCat("model '", model, "' is loaded from its last copy: ", listing.status().message()));
    return {};
  }
  const auto found = listing->models.find(model);
  if (found == listing->models.end()) {
    ForgetOthers(model, {});
    cache_->Remove(model);
    return {};
  }
  TERN_TRY(cache_->AddName(model));
  const Status status = Copy(model, found->second, Haste::kAtOnce, stop);
  counters_.cache_bytes = cache_->Bytes();
  if (status.code() != Code::kIo || !cache_->Has(model)) return status;
  Log(LogLevel::kWarning, StrCat("model '", model, "' is loaded from its last copy: ", status.message()));
  return {};
}

void Mirror::SetCopied(UnitState& state, Copied copied) {
  const auto gauge = [&](Copied of) {
    return of == Copied::kWaits ? &counters_.waiting : of == Copied::kBroken ? &counters_.broken : nullptr;
  };
  if (auto* old = gauge(state.copied)) --*old;
  if (auto* now = gauge(copied)) ++*now;
  state.copied = copied;
}

void Mirror::ForgetOthers(const std::string& model, const std::map<std::string, RemoteUnit>& listed) {
  const std::string prefix = model + "/";
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = units_.lower_bound(prefix); it != units_.end() && StartsWith(it->first, prefix);) {
    if (listed.count(it->first.substr(prefix.size()))) {
      ++it;
      continue;
    }
    SetCopied(it->second, Copied::kYes);
    it = units_.erase(it);
  }
}

// Logs an error, unless it is the same as the last error of this unit.
void Mirror::Note(const std::string& model, const std::string& unit, const Status& status) {
  if (status.code() == Code::kCancelled) return;
  bool fresh = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    UnitState& state = StateOf(model, unit);
    fresh = state.error != status.message();
    state.error = status.message();
    SetCopied(state, status.ok() ? Copied::kYes : Copied::kBroken);
    if (status.ok()) {
      state.failures = 0;
      return;
    }
    if (!fresh && Stop::Clock::now() < state.retry) return;
    state.failures = std::min(state.failures + 1, 16);
    state.retry = Stop::Clock::now() +
                  std::min<milliseconds>(seconds(1) * (1 << std::min(state.failures, 10)), kMostBackOff);
  }
  counters_.failed_copies.fetch_add(1);
  if (fresh)
    Log(LogLevel::kError, StrCat(NameOf(model, unit), " is not copied from ", url_, ": ", status.message()));
}

// Decides whether a unit that differs from its copy may be copied now.
bool Mirror::Complete(const std::string& model, const std::string& unit, const RemoteUnit& remote,
                      Haste haste) {
  const auto now = Stop::Clock::now();
  const std::lock_guard<std::mutex> lock(mutex_);
  UnitState& state = StateOf(model, unit);
  if (state.signature != remote.signature) {
    SetCopied(state, Copied::kYes);
    state = {Copied::kYes, remote.signature, now, 0, {}, ""};
  }
  if (haste == Haste::kAtOnce) return true;
  if (state.failures > 0 && now < state.retry) return false;
  const bool listed = remote.complete || (!unit.empty() && remote.Find(StrCat(unit, "/", kSumsFile)));
  const double settle = static_cast<double>(options_.settle.count());
  if (listed || remote.age >= settle || now - state.seen >= options_.settle) return true;
  SetCopied(state, Copied::kWaits);
  return false;
}

// `most`: limit on the size of the file.
Result<CopiedFile> Mirror::CopyFile(const ObjectInfo& object, const std::string& sha256, uint64_t most,
                                    CacheFolder::NewCopy& copy, const Stop& stop) {
  const auto check = [&](uint64_t bytes) {
    return bytes <= most ? Status() : InvalidArgument("'", object.key, "' has more than ", most, " bytes");
  };
  TERN_TRY(check(object.size_known ? object.size : 0));
  TERN_ASSIGN(const std::string path, copy.PathFor(object.path));
  TERN_ASSIGN(const auto room, cache_->MakeRoom(path, object.size_known ? object.size : 1));
  const auto grow = [&](uint64_t bytes) -> Status {
    TERN_TRY(check(bytes));
    return room->Grow(bytes);
  };
  TERN_ASSIGN(CopiedFile file,
              Download(*store_, object, sha256, path, grow, retry(), counters_.transfers, stop));
  copy.Add(object.path, file);
  return file;
}

Status Mirror::CopyUnit(const RemoteUnit& unit, const CopiedFiles& current, CacheFolder::NewCopy& copy,
                        const Stop& stop) {
  std::map<std::string, std::string> sums;
  const std::string folder = unit.files[0].path.substr(0, unit.files[0].path.find('/'));
  const ObjectInfo* listed = IsVersion(folder) ? unit.Find(StrCat(folder, "/", kSumsFile)) : nullptr;
  if (listed) {
    TERN_TRY(CopyFile(*listed, "", kMaxSums, copy, stop).status());
    TERN_ASSIGN(const std::string path, copy.PathFor(listed->path));
    TERN_ASSIGN(const std::string text, data::ReadFile(path));
    TERN_ASSIGN(sums, ParseSums(text, kMaxObjects));
    for (const auto& [name, sum] : sums)
      if (!unit.Find(StrCat(folder, "/", name)))
        return Unavailable("the version is not complete: ", kSumsFile, " lists '", name,
                           "', which is not there");
  }
  for (const ObjectInfo& object : unit.files) {
    if (&object == listed) continue;
    TERN_TRY(stop.Check());
    const std::string sum = listed ? sums[object.path.substr(folder.size() + 1)] : "";
    const auto known = current.find(object.path);
    const bool same = known != current.end() && known->second.version == VersionId(object) &&
                      (sum.empty() || sum == known->second.sha256);
    if (same && copy.Link(object.path, known->second)) continue;
    TERN_TRY(CopyFile(object, sum, UINT64_MAX, copy, stop).status());
  }
  return {};
}

Status Mirror::Copy(const std::string& model, const RemoteModel& remote, Haste haste, const Stop& stop) {
  TERN_ASSIGN(const auto lock, models_.Acquire(model, stop, StrCat("a copy of model '", model, "'")));
  if (!remote.status.ok()) {
    Note(model, "", remote.status);
    return remote.status;
  }
  ForgetOthers(model, remote.units);
  const CopiedFiles current = cache_->Current(model);
  std::vector<std::string> wanted;
  for (const auto& [unit, files] : remote.units) {
    const CopiedFiles old = FilesOf(current, unit);
    if (SameFiles(files, old)) {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (const auto state = units_.find(StrCat(model, "/", unit)); state != units_.end())
        SetCopied(state->second, Copied::kYes);
      continue;
    }
    if (Complete(model, unit, files, haste)) wanted.push_back(unit);
  }
  size_t kept = 0;
  for (const auto& [unit, files] : remote.units) kept += FilesOf(current, unit).size();
  if (wanted.empty() && kept == current.size()) return {};
  TERN_ASSIGN(const std::unique_ptr<CacheFolder::NewCopy> copy, cache_->Begin(model));
  Status first;
  for (const auto& [unit, files] : remote.units) {
    const CopiedFiles old = FilesOf(current, unit);
    Status status;
    if (std::find(wanted.begin(), wanted.end(), unit) != wanted.end()) {
      status = CopyUnit(files, old, *copy, stop);
      if (status.code() == Code::kCancelled) return status;
      Note(model, unit, status);
      if (status.ok()) continue;
      for (const ObjectInfo& file : files.files) copy->Remove(file.path);
      if (first.ok()) first = Status(status.code(), StrCat(NameOf(model, unit), ": ", status.message()));
    }
    for (const auto& [path, file] : old)
      if (!copy->Link(path, file))
        return Status(Code::kInternal,
                      StrCat("cannot link '", path, "' of model '", model, "' in the repository cache"));
    // Without the files beside the versions, such as the configuration, the model would be another one.
    if (unit.empty() && old.empty()) return first;
  }
  if (copy->files().empty() || SameCopies(copy->files(), current)) return first;
  TERN_TRY(cache_->Publish(model, *copy));
  counters_.copies.fetch_add(1);
  return first;
}

}  // namespace tern::server
