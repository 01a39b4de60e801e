#include "server/access/tenant.h"

#include <algorithm>

#include "base/strings.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Limits a time, so that no sum overflows.
constexpr double kMaxNs = 1e15;

int64_t NsOf(double amount, double per_s) {
  return static_cast<int64_t>(std::min(kMaxNs, amount / per_s * 1e9));
}

milliseconds RetryAfter(nanoseconds wait) {
  return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(wait));
}

}  // namespace

nanoseconds QuotaBucket::Take(double amount, double per_s, double burst, bool debt, Clock::time_point now) {
  const int64_t now_ns = std::chrono::duration_cast<nanoseconds>(now.time_since_epoch()).count();
  const int64_t cost = NsOf(amount, per_s), depth = NsOf(std::max(burst, debt ? 0 : amount), per_s);
  int64_t full = full_ns_.load(std::memory_order_relaxed);
  while (true) {
    const int64_t next = std::max(full, now_ns) + cost;
    // As a time, the bucket has now + depth - max(full, now) left, which is negative if it is in debt.
    const int64_t missing = debt ? full - now_ns - depth + 1 : next - now_ns - depth;
    if (missing > 0) return nanoseconds(missing);
    if (full_ns_.compare_exchange_weak(full, next, std::memory_order_relaxed)) return nanoseconds(0);
  }
}

Permit& Permit::operator=(Permit&& other) noexcept {
  std::swap(tenant_, other.tenant_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void Permit::Release() {
  if (!tenant_) return;
  if (bytes_) tenant_->queued_bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
  tenant_->in_flight_.fetch_sub(1, std::memory_order_relaxed);
  bytes_ = 0;
  tenant_ = nullptr;
}

namespace {

QuotaRefusal UsedUp(std::string limit, milliseconds retry_after) {
  return {StrCat("the quota of this client is used up: ", limit), retry_after};
}

}  // namespace

QuotaRefusal Permit::CountRequest(Tenant& tenant, const Quota& quota, Clock::time_point now) {
  tenant.requests_.fetch_add(1, std::memory_order_relaxed);
  if (quota.requests_per_s <= 0) return {};
  const double burst = quota.burst > 0 ? quota.burst : std::max(1.0, quota.requests_per_s);
  const nanoseconds wait = tenant.rate_.Take(1, quota.requests_per_s, burst, false, now);
  if (wait.count() == 0) return {};
  tenant.refused_[static_cast<size_t>(QuotaKind::kRate)].fetch_add(1, std::memory_order_relaxed);
  return UsedUp(StrCat(quota.requests_per_s, " requests per second"), RetryAfter(wait));
}

QuotaRefusal Permit::Acquire(std::shared_ptr<Tenant> tenant, const Quota& quota, uint64_t bytes,
                             Clock::time_point now) {
  Release();
  const uint64_t others = tenant->in_flight_.fetch_add(1, std::memory_order_relaxed);
  tenant_ = std::move(tenant);
  if (quota.concurrency > 0 && others >= quota.concurrency) {
    tenant_->refused_[static_cast<size_t>(QuotaKind::kConcurrency)].fetch_add(1, std::memory_order_relaxed);
    Release();
    return UsedUp(StrCat(quota.concurrency, " requests at the same time"), milliseconds(1000));
  }
  QuotaRefusal refusal = Grow(quota, bytes, now);
  if (!refusal.message.empty()) Release();
  return refusal;
}

QuotaRefusal Permit::Grow(const Quota& quota, uint64_t bytes, Clock::time_point now) {
  if (bytes == 0 || !tenant_) return {};
  const uint64_t before = tenant_->queued_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  bytes_ += bytes;
  if (quota.queued_bytes > 0 && (bytes > quota.queued_bytes || before > quota.queued_bytes - bytes)) {
    tenant_->refused_[static_cast<size_t>(QuotaKind::kQueuedBytes)].fetch_add(1, std::memory_order_relaxed);
    return UsedUp(StrCat(quota.queued_bytes, " bytes of requests that wait or run, and this one has ", bytes),
                  milliseconds(1000));
  }
  if (quota.bytes_per_s > 0) {
    const nanoseconds wait =
        tenant_->byte_rate_.Take(static_cast<double>(bytes), quota.bytes_per_s, quota.bytes_per_s, true, now);
    if (wait.count() > 0) {
      tenant_->refused_[static_cast<size_t>(QuotaKind::kBytes)].fetch_add(1, std::memory_order_relaxed);
      return UsedUp(StrCat(quota.bytes_per_s, " bytes per second"), RetryAfter(wait));
    }
  }
  tenant_->bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return {};
}

std::shared_ptr<Tenant> TenantBook::Find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& tenant = tenants_[name];
  if (!tenant) tenant = std::make_shared<Tenant>(name, next_++);
  return tenant;
}

void TenantBook::Keep(const std::vector<std::shared_ptr<Tenant>>& used) {
  const std::lock_guard lock(mutex_);
  std::erase_if(tenants_, [&](const auto& entry) {
    return std::find(used.begin(), used.end(), entry.second) == used.end();
  });
}

std::vector<std::shared_ptr<Tenant>> TenantBook::All() const {
  std::vector<std::shared_ptr<Tenant>> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, tenant] : tenants_) all.push_back(tenant);
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  return all;
}

}  // namespace tern::server
