// Keeps the memory of resident models under a budget: models are loaded when a request needs them, and those
// with the least use are evicted.
#pragma once
#include <thread>
#include <vector>

#include "server/residency/budget_state.h"
#include "server/residency/resident_version.h"
#include "server/scheduler/scheduler.h"

namespace tern::server {

struct BudgetOptions {
  uint64_t bytes = 0;
  int threads = 2;  // number of loads at the same time
};

// Thread-safe.
class MemoryBudget {
 public:
  // The scheduler must outlive the budget; versions may outlive both.
  MemoryBudget(const BudgetOptions& options, Scheduler& scheduler);
  ~MemoryBudget() { Stop(); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Makes a version that is loaded when its first request arrives.
  std::shared_ptr<ModelVersion> AddEvicted(ModelConfig config, std::shared_ptr<Account> account);
  // Loads a version now. The result may be evicted and loaded again later, unless it is pinned. `whole`
  // returns whether front ends need functions of the version that a ResidentVersion does not forward, such as
  // its tokenizer. If so, the result is the loaded version itself, which is never evicted.
  Result<std::shared_ptr<ModelVersion>> AddLoaded(std::shared_ptr<Account> account,
                                                  bool (*whole)(ModelVersion& version) = nullptr);
  // Ends the threads. After that, the budget no longer answers requests that wait for a load.
  void Stop();
  const BudgetState& state() const { return *state_; }

 private:
  void Run();
  void KeepUp();
  Result<std::shared_ptr<ModelVersion>> Load(Account& account, bool first);

  Scheduler& scheduler_;
  const std::shared_ptr<BudgetState> state_;
  const std::shared_ptr<HoldTimer> timer_ = std::make_shared<HoldTimer>();
  std::vector<std::thread> threads_;
};

}  // namespace tern::server
