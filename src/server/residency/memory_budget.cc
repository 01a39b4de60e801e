#include "server/residency/memory_budget.h"

#include <algorithm>

#include "server/core/log.h"
#include "server/core/start_pool.h"

namespace tern::server {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{1000};

}  // namespace

MemoryBudget::MemoryBudget(const BudgetOptions& options, Scheduler& scheduler)
    : scheduler_(scheduler), state_(std::make_shared<BudgetState>(options.bytes)) {
  StartPool();
  try {
    for (int i = 0; i < std::max(1, options.threads); ++i) threads_.emplace_back([this] { Run(); });
    threads_.emplace_back([this] { KeepUp(); });
  } catch (...) {
    Stop();  // the threads that were started use this object
    throw;
  }
}

void MemoryBudget::Stop() {
  state_->Stop();
  for (std::thread& thread : threads_)
    if (thread.joinable()) thread.join();
}

void MemoryBudget::KeepUp() {
  const auto drained = [this](const std::shared_ptr<ModelVersion>& model) {
    return scheduler_.Retired(model);
  };
  while (state_->WaitForWork(state_->KeepUp(drained))) {
  }
}

// Requests wait for these loads, so the threads have the priority of those that run models.
void MemoryBudget::Run() {
  while (std::shared_ptr<ResidentVersion> version = state_->Next()) {
    Account& account = *version->account();
    auto loaded = Load(account, false);
    if (!loaded.ok()) {
      version->Refuse(loaded.status(), kRetryAfter);
      continue;
    }
    (*loaded)->ShareStatistics(*version);
    version->Open(*loaded);
    state_->SetResident(account, version.get());
  }
}

// After success, the account is charged, but not resident yet. So it cannot be evicted before its caller is
// ready.
Result<std::shared_ptr<ModelVersion>> MemoryBudget::Load(Account& account, bool first) {
  const Status room = state_->Reserve(account);
  if (!room.ok()) {
    state_->Fail(account, room, false);
    return room;
  }
  const auto begin = Clock::now();
  auto loaded = Guard([&] { return account.load(first); });
  if (!loaded.ok()) {
    const Status status = Unavailable("model '", account.model, "' version ", account.version,
                                      " cannot be loaded: ", loaded.status().message());
    Log(LogLevel::kError, status.message());
    state_->Fail(account, status, true);
    return first ? loaded.TakeStatus() : status;
  }
  const Status charged = state_->Charge(account, (*loaded)->MemoryBytes(), Clock::now() - begin);
  if (charged.ok()) return loaded;
  scheduler_.Remove(*loaded, std::chrono::milliseconds(0));
  state_->Fail(account, charged, false);
  return charged;
}

std::shared_ptr<ModelVersion> MemoryBudget::AddEvicted(ModelConfig config, std::shared_ptr<Account> account) {
  state_->Add(account);
  auto version = std::make_shared<ResidentVersion>(std::move(config), account, state_, timer_);
  state_->SetOwner(*account, version.get());
  return version;
}

Result<std::shared_ptr<ModelVersion>> MemoryBudget::AddLoaded(std::shared_ptr<Account> account,
                                                              bool (*whole)(ModelVersion& version)) {
  state_->Add(account);
  auto loaded = Load(*account, true);
  if (!loaded.ok()) {
    state_->Remove(account);
    return loaded.TakeStatus();
  }
  if (whole && whole(**loaded)) {
    state_->Keep(account, *loaded);
    return loaded;
  }
  auto version = std::make_shared<ResidentVersion>((*loaded)->config(), account, state_, timer_);
  (*loaded)->ShareStatistics(*version);
  version->DescribeLike(**loaded);
  version->SetGoldenRequests((*loaded)->golden_requests());
  version->Open(*loaded);
  state_->SetResident(*account, version.get());
  return std::shared_ptr<ModelVersion>(std::move(version));
}

}  // namespace tern::server
