// The accounts of all models under a memory budget. Decides which version is evicted.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>

#include "server/residency/account.h"
#include "server/residency/holding_version.h"

namespace tern::server {

// A version that was evicted, while it answers its last requests.
struct Leaving {
  Lease lease;                        // null when the version gets no more requests; it may still be in use
  std::weak_ptr<ModelVersion> model;  // expired when the memory is free
  uint64_t bytes = 0;
  Clock::time_point since;
};

struct BudgetCounts {
  uint64_t hits = 0, misses = 0, loads = 0, failures = 0, evictions = 0;
  uint64_t resident_bytes = 0, resident_models = 0, waiting = 0;
};

// Thread-safe. Versions share it, because they may outlive the server's threads.
class BudgetState {
 public:
  explicit BudgetState(uint64_t bytes) : bytes_(bytes) {}

  uint64_t bytes() const { return bytes_; }
  void Add(const std::shared_ptr<Account>& account);
  void Remove(const std::shared_ptr<Account>& account);
  // Removes the account, whose owner is being destroyed. The bytes that it charged count until the model of
  // the lease is destroyed.
  void Leave(Account& account, Lease lease);

  // Replaces the account by one that is never evicted: its bytes count until `model` is destroyed.
  void Keep(const std::shared_ptr<Account>& account, const std::shared_ptr<ModelVersion>& model);

  // Called when a request of the version waits. Queues a load if the version is evicted. Returns the error of
  // the last load if it failed and the pause after it has not ended.
  Status Request(const std::shared_ptr<ResidentVersion>& version);
  // Waits for a version to load. Returns null after Stop.
  std::shared_ptr<ResidentVersion> Next();
  // Reserves memory for a load. Evicts the versions of the least value and waits until they are gone. Fails
  // if the version is larger than the budget, or if not enough memory becomes free within 60 s. Fails at once
  // if only pinned versions could be evicted.
  Status Reserve(Account& account);
  // Ends a load. Replaces the reserved bytes by the measured ones, and evicts other versions if the budget is
  // exceeded. Fails if the version alone is larger than the budget.
  Status Charge(Account& account, uint64_t bytes, std::chrono::nanoseconds duration);
  // Ends a load that failed. With `pause`, requests are refused for a while before the next load.
  void Fail(Account& account, const Status& status, bool pause);
  void SetOwner(Account& account, ResidentVersion* owner);
  // From now on, the version runs requests and may be evicted.
  void SetResident(Account& account, ResidentVersion* owner);

  // Measures the resident versions again, because they grow when they first run. Evicts some of them if they
  // exceed the budget. Frees evicted versions that are no longer used. Returns whether an evicted version is
  // still in use.
  bool KeepUp(const std::function<bool(const std::shared_ptr<ModelVersion>&)>& drained);

  // Waits until KeepUp should be called again. `leaving`: an evicted version is still in use, so the wait is
  // short. Returns false after Stop.
  bool WaitForWork(bool leaving);

  void Stop();
  void CountHit(Account& account);
  void CountWait(std::chrono::nanoseconds held) { waits_.Add(held); }
  BudgetCounts Counts() const;
  const LatencyHistogram& waits() const { return waits_; }
  // Calls visit(account) for each account under the lock.
  template <class F> void ForEach(const F& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& account : accounts_) visit(*account);
  }
  std::string Note(const Account& account) const;

 private:
  void MeasureCosts();
  // These are called under the lock.
  uint64_t Kept() const;     // bytes of the versions that are never evicted
  uint64_t Charged() const;  // bytes of all resident versions and loads
  uint64_t Used() const;     // Charged() and the bytes of evicted versions that still exist
  Account* Victim(const Account* except) const;
  void Evict(Account& account);
  Status NoRoom(const Account& account, uint64_t need) const;
  Status TooLarge(const Account& account, uint64_t need) const;

  const uint64_t bytes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::shared_ptr<Account>> accounts_;
  std::deque<std::weak_ptr<ResidentVersion>> queue_;
  std::list<Leaving> leaving_;
  std::list<Leaving> kept_;  // versions that are never evicted
  bool stop_ = false;
  uint64_t misses_ = 0, loads_ = 0, failures_ = 0, evictions_ = 0;
  std::atomic<uint64_t> hits_{0};
  LatencyHistogram waits_;  // how long requests waited for a load
};

}  // namespace tern::server
