#include "server/residency/budget_state.h"

#include <malloc.h>

#include <algorithm>

#include "server/residency/resident_version.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kRoomLimit{60};  // how long a load waits for room
constexpr std::chrono::milliseconds kRoomPoll{5};
constexpr std::chrono::milliseconds kKeepUpInterval{100};

std::string Label(const Account& account) {
  return StrCat("model '", account.model, "' version ", account.version);
}

}  // namespace

void BudgetState::Add(const std::shared_ptr<Account>& account) {
  const std::lock_guard lock(mutex_);
  accounts_.insert(account);
}

void BudgetState::Remove(const std::shared_ptr<Account>& account) {
  const std::lock_guard lock(mutex_);
  accounts_.erase(account);
}

void BudgetState::Leave(Account& account, Lease lease) {
  {
    const std::lock_guard lock(mutex_);
    account.owner = nullptr;
    if (lease) leaving_.push_back({nullptr, *lease, account.charged, Clock::now()});
    account.charged = 0;
    account.state = Account::State::kEvicted;
    std::erase_if(accounts_, [&](const auto& other) { return other.get() == &account; });
  }
  lease.reset();
  changed_.notify_all();
}

void BudgetState::Keep(const std::shared_ptr<Account>& account, const std::shared_ptr<ModelVersion>& model) {
  const std::lock_guard lock(mutex_);
  kept_.push_back({nullptr, model, account->charged, Clock::now()});
  account->charged = 0;
  accounts_.erase(account);
}

uint64_t BudgetState::Kept() const {
  uint64_t sum = 0;
  for (const Leaving& entry : kept_)
    if (!entry.model.expired()) sum += entry.bytes;
  return sum;
}

uint64_t BudgetState::Charged() const {
  uint64_t sum = Kept();
  for (const auto& account : accounts_) sum += account->charged;
  return sum;
}

uint64_t BudgetState::Used() const {
  uint64_t sum = Charged();
  for (const Leaving& leaving : leaving_)
    if (!leaving.model.expired()) sum += leaving.bytes;
  return sum;
}

Status BudgetState::TooLarge(const Account& account, uint64_t need) const {
  return Unavailable(Label(account), " needs ", need, " bytes, more than the memory budget of ", bytes_,
                     " bytes (--memory-budget)");
}

Status BudgetState::NoRoom(const Account& account, uint64_t need) const {
  uint64_t pinned = Kept(), busy = 0;
  for (const auto& other : accounts_) (other->pinned ? pinned : busy) += other->charged;
  for (const Leaving& leaving : leaving_) busy += leaving.model.expired() ? 0 : leaving.bytes;
  return Unavailable(Label(account), " needs ", need, " bytes, but ", pinned, " of the ", bytes_,
                     " bytes of the memory budget are used by pinned models and ", busy,
                     " by models that are loading or in use");
}

Status BudgetState::Request(const std::shared_ptr<ResidentVersion>& version) {
  Account& account = *version->account();
  const std::lock_guard lock(mutex_);
  ++misses_;
  account.hits.fetch_add(1, std::memory_order_relaxed);
  if (account.state != Account::State::kEvicted) return {};
  if (stop_) return Unavailable("Server exiting");
  if (account.failures > 0 && Clock::now() < account.retry_at) return account.error;
  account.state = Account::State::kQueued;
  queue_.push_back(version);
  changed_.notify_all();
  return {};
}

std::shared_ptr<ResidentVersion> BudgetState::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return nullptr;
    std::shared_ptr<ResidentVersion> version = queue_.front().lock();
    queue_.pop_front();
    if (!version) continue;
    version->account()->state = Account::State::kLoading;
    return version;
  }
}

// Returns the resident version of the least value that may be evicted, or null.
Account* BudgetState::Victim(const Account* except) const {
  const Clock::time_point now = Clock::now();
  Account* least = nullptr;
  for (const auto& account : accounts_) {
    if (account->state != Account::State::kResident || account->pinned || account.get() == except) continue;
    account->Touch(now);
    if (!least || account->Value() < least->Value()) least = account.get();
  }
  return least;
}

// The owner exists: its destructor calls Leave, which waits for the lock.
void BudgetState::Evict(Account& account) {
  account.state = Account::State::kEvicted;
  Lease lease = account.owner->Close();
  if (lease) leaving_.push_back({lease, *lease, account.charged, Clock::now()});
  account.charged = 0;
  ++account.evictions;
  ++evictions_;
}

Status BudgetState::Reserve(Account& account) {
  const auto end = Clock::now() + kRoomLimit;
  std::unique_lock lock(mutex_);
  if (account.cost > bytes_) return TooLarge(account, account.cost);
  if (account.cost == 0 && account.file_bytes > bytes_) return TooLarge(account, account.file_bytes);
  const uint64_t need = account.Estimate(bytes_);
  while (Used() + need > bytes_) {
    if (stop_) return Unavailable("Server exiting");
    // Versions that are leaving free their bytes soon, so no other version is evicted for these bytes.
    Account* victim = Charged() + need > bytes_ ? Victim(&account) : nullptr;
    if (victim) {
      Evict(*victim);
      changed_.notify_all();
      continue;
    }
    const bool loading = std::any_of(accounts_.begin(), accounts_.end(), [&](const auto& other) {
      return other.get() != &account && other->charged > 0 && !other->pinned;
    });
    if ((!loading && leaving_.empty()) || Clock::now() >= end) return NoRoom(account, need);
    changed_.wait_for(lock, kRoomPoll);
  }
  account.state = Account::State::kLoading;
  account.charged = need;
  return {};
}

Status BudgetState::Charge(Account& account, uint64_t bytes, std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  bytes = std::max<uint64_t>(1, bytes > 0 ? bytes : account.file_bytes);
  account.Succeed(bytes, duration);
  account.charged = bytes;
  ++loads_;
  if (bytes > bytes_) {
    account.charged = 0;
    account.state = Account::State::kEvicted;
    return TooLarge(account, bytes);
  }
  while (Charged() > bytes_) {
    Account* victim = Victim(&account);
    if (!victim) break;
    Evict(*victim);
  }
  changed_.notify_all();
  return {};
}

void BudgetState::Fail(Account& account, const Status& status, bool pause) {
  const std::lock_guard lock(mutex_);
  account.charged = 0;
  account.state = Account::State::kEvicted;
  if (pause) account.Fail(status, Clock::now());
  ++failures_;
  changed_.notify_all();
}

void BudgetState::SetOwner(Account& account, ResidentVersion* owner) {
  const std::lock_guard lock(mutex_);
  account.owner = owner;
}

void BudgetState::SetResident(Account& account, ResidentVersion* owner) {
  const std::lock_guard lock(mutex_);
  account.owner = owner;
  account.state = Account::State::kResident;
  changed_.notify_all();
}

// Measures without the lock, because back ends may take long to answer.
void BudgetState::MeasureCosts() {
  std::vector<std::pair<std::shared_ptr<Account>, Lease>> resident;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& account : accounts_)
      if (account->state == Account::State::kResident && account->owner)
        resident.emplace_back(account, account->owner->CurrentLease());
  }
  for (const auto& [account, lease] : resident) {
    const uint64_t bytes = lease ? (*lease)->MemoryBytes() : 0;
    const std::lock_guard lock(mutex_);
    if (bytes > 0 && account->state == Account::State::kResident) account->cost = account->charged = bytes;
  }
}

bool BudgetState::KeepUp(const std::function<bool(const std::shared_ptr<ModelVersion>&)>& drained) {
  MeasureCosts();
  std::vector<Lease> gone;
  bool leaving = false;
  {
    const std::lock_guard lock(mutex_);
    while (Charged() > bytes_) {
      Account* victim = Victim(nullptr);
      if (!victim) break;
      Evict(*victim);
    }
    for (Leaving& entry : leaving_)
      if (entry.lease && entry.lease.use_count() == 1 && drained(*entry.lease))
        gone.push_back(std::move(entry.lease));
  }
  const bool freed = !gone.empty();
  gone.clear();  // without the lock, because the destruction of a model takes long
  if (freed) malloc_trim(0);
  {
    const std::lock_guard lock(mutex_);
    for (auto* list : {&leaving_, &kept_})
      list->remove_if([](const Leaving& entry) { return entry.model.expired(); });
    leaving = !leaving_.empty();
  }
  changed_.notify_all();
  return leaving;
}

bool BudgetState::WaitForWork(bool leaving) {
  std::unique_lock lock(mutex_);
  if (leaving)
    changed_.wait_for(lock, kRoomPoll, [this] { return stop_; });
  else
    changed_.wait_for(lock, kKeepUpInterval, [this] { return stop_ || !leaving_.empty(); });
  return !stop_;
}

void BudgetState::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
}

void BudgetState::CountHit(Account& account) {
  account.hits.fetch_add(1, std::memory_order_relaxed);
  hits_.fetch_add(1, std::memory_order_relaxed);
}

BudgetCounts BudgetState::Counts() const {
  const std::lock_guard lock(mutex_);
  BudgetCounts counts;
  counts.hits = hits_.load(std::memory_order_relaxed);
  counts.misses = misses_;
  counts.loads = loads_;
  counts.failures = failures_;
  counts.evictions = evictions_;
  counts.resident_bytes = Used();
  for (const auto& account : accounts_) {
    counts.resident_models += account->state == Account::State::kResident;
    if (account->owner) counts.waiting += account->owner->held();
  }
  return counts;
}

std::string BudgetState::Note(const Account& account) const {
  const std::lock_guard lock(mutex_);
  switch (account.state) {
    case Account::State::kResident:
      return StrCat("resident: ", account.charged, " bytes", account.pinned ? ", pinned" : "");
    case Account::State::kQueued:
    case Account::State::kLoading:
      return "not resident: it is being loaded";
    case Account::State::kEvicted:
      break;
  }
  if (account.cost > bytes_) return StrCat("not resident: ", TooLarge(account, account.cost).message());
  if (account.failures > 0) return StrCat("not resident: the last load failed: ", account.error.message());
  return "not resident: the next request loads it";
}

}  // namespace tern::server
