// Keeps local copies of the models of one remote repository up to date.
#pragma once
#include <atomic>
#include <functional>

#include "base/keyed_mutex.h"
#include "server/store/cache_folder.h"
#include "server/store/download.h"
#include "server/store/listing.h"
#include "server/store/store_url.h"

namespace tern::server {

struct MirrorCounters {
  TransferCounters transfers;
  std::atomic<uint64_t> failed_listings{0}, failed_copies{0}, copies{0};
  std::atomic<bool> reachable{false};
  std::atomic<int64_t> listed{0};    // seconds since 1970, of the last complete listing
  std::atomic<uint64_t> waiting{0};  // versions that changed and are not complete yet
  std::atomic<uint64_t> broken{0};   // versions that cannot be copied
  std::atomic<uint64_t> cache_bytes{0};
};

// Which models Refresh copies: all, or those whose names are in a list.
using WantedModels = std::function<bool(const std::string& model)>;

// Thread-safe, but Refresh has one caller at a time. A version is copied only if it is complete: its file
// SHA256SUMS or an index of the repository lists its files, or none of its files changed for the time
// `settle`. A copy replaces the old one as a whole when all checksums are right. A version that cannot be
// copied keeps its old copy.
class Mirror {
 public:
  Mirror(std::string url, std::unique_ptr<ObjectStore> store, std::unique_ptr<CacheFolder> cache,
         const StoreOptions& options)
      : url_(std::move(url)), store_(std::move(store)), cache_(std::move(cache)), options_(options) {}

  const std::string& url() const { return url_; }
  std::string folder() const { return cache_->models(); }
  const MirrorCounters& counters() const { return counters_; }

  // Lists the repository and copies the wanted models that changed, four at a time. With `start`, waits for
  // versions that changed less than `settle` ago. Removes the copies of models that are gone. If the
  // repository cannot be listed, the copies stay, and the error is returned.
  Status Refresh(const WantedModels& wanted, bool start, const Stop& stop);
  // Copies a model that a client wants to load. Also copies versions that changed less than `settle` ago. If
  // the store cannot be reached and there is an old copy, logs the error and returns an ok status.
  Status Update(const std::string& model, const Stop& stop);
  // Keeps the files of a loaded version in the cache: see CacheFolder::Keep.
  std::shared_ptr<const void> Keep(const std::string& folder, const std::string& version) {
    return cache_->Keep(folder, version);
  }

 private:
  enum class Copied { kYes, kWaits, kBroken };
  struct UnitState {
    Copied copied = Copied::kYes;  // changed by SetCopied, which counts
    std::string signature;
    Stop::Clock::time_point seen;  // when this signature was listed first
    int failures = 0;              // in a row, with this signature
    Stop::Clock::time_point retry;
    std::string error;
  };
  enum class Haste { kSettle, kAtOnce };

  Result<RemoteListing> List(const std::string& folder, const Stop& stop);
  void RemoveGone(const RemoteListing& listing, bool start);
  void ForgetGone(const RemoteListing& listing);  // the states of models that are not listed
  void CopyAll(const RemoteListing& listing, const WantedModels& wanted, const Stop& stop);
  Status Copy(const std::string& model, const RemoteModel& remote, Haste haste, const Stop& stop);
  bool Complete(const std::string& model, const std::string& unit, const RemoteUnit& remote, Haste haste);
  Status CopyUnit(const RemoteUnit& unit, const CopiedFiles& current, CacheFolder::NewCopy& copy,
                  const Stop& stop);
  Result<CopiedFile> CopyFile(const ObjectInfo& object, const std::string& sha256, uint64_t most,
                              CacheFolder::NewCopy& copy, const Stop& stop);
  // The next two are called under the lock.
  UnitState& StateOf(const std::string& model, const std::string& unit) {
    return units_[StrCat(model, "/", unit)];
  }
  void SetCopied(UnitState& state, Copied copied);
  // Forgets the units of a model that are not in `listed`.
  void ForgetOthers(const std::string& model, const std::map<std::string, RemoteUnit>& listed);
  void Note(const std::string& model, const std::string& unit, const Status& status);
  RetryOptions retry() const { return {options_.attempts}; }

  const std::string url_;
  const std::unique_ptr<ObjectStore> store_;
  const std::unique_ptr<CacheFolder> cache_;
  const StoreOptions options_;
  MirrorCounters counters_;
  std::atomic<bool> failing_{false};  // the last listing failed
  KeyedMutex<std::string> models_;    // a model is copied by one thread at a time
  std::mutex mutex_;
  std::map<std::string, UnitState> units_;               // by "model/version"
  std::map<std::string, Stop::Clock::time_point> gone_;  // models that are no longer listed
};

}  // namespace tern::server
