#include "server/access/access.h"

#include <cstring>
#include <random>
#include <unordered_map>

#include "server/access/access_file.h"
#include "server/core/log.h"

namespace tern::server {

// The entries that one read of the access file found.
struct AccessControl::Table {
  struct Row {
    AccessEntry entry;
    std::shared_ptr<Identity> identity;
  };
  std::vector<Row> rows;
  std::unordered_map<uint64_t, size_t> by_hash;  // KeyOf
  std::unordered_map<std::string, size_t> by_subject, by_san;
};

namespace {

std::shared_ptr<Identity> MakeIdentity(const AccessEntry& entry, std::shared_ptr<Tenant> tenant) {
  auto identity = std::make_shared<Identity>();
  identity->name = entry.name;
  identity->roles = entry.roles;
  identity->models = entry.models;
  identity->expires = entry.expires;
  identity->tenant = std::move(tenant);
  identity->quota = entry.quota;
  return identity;
}

bool Expired(WallTime expires) { return expires != kNoExpiry && std::chrono::system_clock::now() >= expires; }

Refusal Exhausted(QuotaRefusal refusal) {
  if (refusal.message.empty()) return {};
  return {Refusal::Kind::kExhausted, std::move(refusal.message), refusal.retry_after};
}

}  // namespace

AccessControl::AccessControl(const AccessOptions& options)
    : options_(options),
      seed_([] {
        std::random_device device;
        return uint64_t{device()} << 32 | device();
      }()),
      failures_(options.failures_per_minute),
      table_(std::make_shared<Table>()),
      file_(options.file) {}

Result<std::unique_ptr<AccessControl>> AccessControl::Open(const AccessOptions& options) {
  std::unique_ptr<AccessControl> access(new AccessControl(options));
  const std::lock_guard lock(access->mutex_);
  const Status status = access->Load();
  if (!status.ok())
    return Status(status.code(), StrCat("access file '", options.file, "': ", status.message()));
  struct stat info {};
  if (stat(options.file.c_str(), &info) == 0 && (info.st_mode & (S_IWGRP | S_IWOTH)))
    Log(LogLevel::kWarning, StrCat("other users can write to the access file '", options.file, "'"));
  return access;
}

// The key depends on a random number, so that the time of a search tells nothing about stored hashes.
uint64_t AccessControl::KeyOf(const TokenHash& hash) const {
  uint64_t a = 0, b = 0;
  std::memcpy(&a, hash.data(), sizeof a);
  std::memcpy(&b, hash.data() + sizeof a, sizeof b);
  return (a ^ seed_) * 0x9E3779B97F4A7C15 ^ b;
}

// Called under the lock.
Status AccessControl::Load() {
  const Result<bool> changed = file_.Refresh();
  if (!changed.ok()) return changed.status();
  if (!*changed) return {};
  TERN_ASSIGN(const std::vector<AccessEntry> entries, ParseAccessFile(file_.content()));
  std::atomic_store(&table_, MakeTable(entries));
  return {};
}

// An entry that did not change keeps its identity. All other old identities are revoked.
std::shared_ptr<const AccessControl::Table> AccessControl::MakeTable(
    const std::vector<AccessEntry>& entries) {
  const auto old = std::atomic_load(&table_);
  std::unordered_map<std::string, const Table::Row*> before;
  for (const Table::Row& row : old->rows) before[row.entry.name] = &row;
  auto table = std::make_shared<Table>();
  std::vector<std::shared_ptr<Tenant>> used;
  for (const AccessEntry& entry : entries) {
    const auto found = before.find(entry.name);
    const bool same = found != before.end() && found->second->entry == entry;
    auto tenant = tenants_.Find(entry.tenant);
    used.push_back(tenant);
    auto identity = same ? found->second->identity : MakeIdentity(entry, std::move(tenant));
    if (same) before.erase(found);
    const size_t index = table->rows.size();
    if (entry.hash) table->by_hash[KeyOf(*entry.hash)] = index;
    if (!entry.subject.empty()) table->by_subject[entry.subject] = index;
    if (!entry.san.empty()) table->by_san[entry.san] = index;
    table->rows.push_back({entry, std::move(identity)});
  }
  tenants_.Keep(used);
  for (const auto& [name, row] : before) row->identity->revoked = true;
  return table;
}

void AccessControl::Reload() {
  const std::lock_guard lock(mutex_);
  const auto before = std::atomic_load(&table_);
  const Status status = Load();
  if (status.ok()) {
    last_error_.clear();
    if (std::atomic_load(&table_) == before) return;
    reloads_.fetch_add(1, std::memory_order_relaxed);
    return Log(LogLevel::kInfo, StrCat("the access file '", options_.file, "' has ", entries(), " entries"));
  }
  if (status.message() == last_error_) return;
  last_error_ = status.message();
  failed_reloads_.fetch_add(1, std::memory_order_relaxed);
  Log(LogLevel::kError, StrCat("access file '", options_.file, "': ", last_error_, "; the ", entries(),
                               " entries of before stay"));
}

size_t AccessControl::entries() const { return std::atomic_load(&table_)->rows.size(); }

bool AccessControl::OpenToAll(const Operation& operation) const {
  if (operation.group == ApiGroup::kMetrics) return options_.open_metrics;
  return operation.right == Right::kHealth && options_.open_health;
}

// If a request has a field Authorization, its certificate is ignored, even if the token is wrong.
AccessControl::Outcome AccessControl::Identify(const Credentials& credentials, Visitor& visitor) {
  const auto table = std::atomic_load(&table_);
  const Table::Row* row = nullptr;
  const auto find = [&](const auto& map, const auto& key) {
    const auto found = map.find(key);
    if (!row && found != map.end()) row = &table->rows[found->second];
  };
  if (credentials.fields > 0) {
    const auto token = ParseBearer(credentials.authorization);
    if (credentials.fields > 1 || !token) return Outcome::kInvalid;
    const TokenHash hash = HashToken(*token);
    find(table->by_hash, KeyOf(hash));
    if (!row || !SameHash(*row->entry.hash, hash)) return Outcome::kInvalid;
  } else if (credentials.certificate) {
    if (Expired(credentials.certificate->expires)) return Outcome::kInvalid;
    find(table->by_subject, credentials.certificate->subject);
    for (const std::string& name : credentials.certificate->names) find(table->by_san, name);
    if (!row) return Outcome::kInvalid;
    visitor.expires = credentials.certificate->expires;
  } else {
    return Outcome::kMissing;
  }
  if (Expired(row->identity->expires)) return Outcome::kInvalid;
  visitor.expires = std::min(visitor.expires, row->identity->expires);
  visitor.identity = row->identity;
  return Outcome::kAccepted;
}

// While an address is blocked, a wrong token gets the same answer as a right token that was never used from
// this address. So a client that guesses tokens learns nothing.
Refusal AccessControl::Enter(const Credentials& credentials, const Operation& operation, Visitor& visitor) {
  visitor = Visitor();
  const Clock::time_point now = Clock::now();
  const uint64_t bit = uint64_t{1} << (credentials.address >> 8 & 63);
  Outcome outcome = Identify(credentials, visitor);
  std::chrono::milliseconds wait{0};
  const bool known = visitor.identity && (visitor.identity->addresses.load(std::memory_order_relaxed) & bit);
  if (outcome != Outcome::kMissing && !known) wait = failures_.Blocked(credentials.address, now);
  if (wait.count() > 0) outcome = Outcome::kBlocked;
  if (outcome != Outcome::kAccepted) {
    visitor = Visitor();
    visitor.anonymous = true;
    if (OpenToAll(operation)) return {};
    if (outcome == Outcome::kInvalid) failures_.Add(credentials.address, now);
    return Refuse(outcome, wait);
  }
  if (!known) visitor.identity->addresses.fetch_or(bit, std::memory_order_relaxed);
  if (operation.right != Right::kHealth) {
    Refusal exhausted = CountRequest(visitor);
    if (exhausted.refused()) return exhausted;
  }
  return OpenToAll(operation) ? Refusal() : CheckRight(visitor, operation.right);
}

Refusal AccessControl::Refuse(Outcome outcome, std::chrono::milliseconds retry_after) {
  outcomes_[static_cast<size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  if (outcome == Outcome::kDenied)
    return {Refusal::Kind::kDenied, "the client is not permitted to do this", {}};
  if (outcome == Outcome::kBlocked)
    return {Refusal::Kind::kExhausted, "too many requests with wrong credentials come from this address",
            retry_after};
  return {Refusal::Kind::kUnauthenticated, "the request has no valid credentials", {}};
}

// An anonymous client may get the right if it presents a token.
Refusal AccessControl::Deny(const Visitor& visitor) {
  return Refuse(visitor.anonymous ? Outcome::kMissing : Outcome::kDenied);
}

Refusal AccessControl::CheckRight(const Visitor& visitor, Right right) {
  return visitor.Has(right) ? Refusal() : Deny(visitor);
}

Refusal AccessControl::CheckModel(const Visitor& visitor, std::string_view model) {
  return visitor.PermitsModel(model) ? Refusal() : Deny(visitor);
}

Refusal AccessControl::CheckAllModels(const Visitor& visitor) {
  return visitor.limited() ? Deny(visitor) : Refusal();
}

Refusal AccessControl::CheckValid(const Visitor& visitor) {
  return visitor.Valid() ? Refusal() : Refuse(Outcome::kInvalid);
}

Refusal AccessControl::CountRequest(const Visitor& visitor) {
  if (!visitor.identity) return {};
  return Exhausted(Permit::CountRequest(*visitor.identity->tenant, visitor.identity->quota, Clock::now()));
}

Refusal AccessControl::Admit(const Visitor& visitor, uint64_t bytes, Permit& permit) {
  if (!visitor.identity) return {};
  return Exhausted(permit.Acquire(visitor.identity->tenant, visitor.identity->quota, bytes, Clock::now()));
}

Refusal AccessControl::Grow(const Visitor& visitor, uint64_t bytes, Permit& permit) {
  if (!visitor.identity) return {};
  return Exhausted(permit.Grow(visitor.identity->quota, bytes, Clock::now()));
}

}  // namespace tern::server
