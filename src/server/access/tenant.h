// Tenants, their quotas, and what their requests use of them.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// 0 stands for no limit.
struct Quota {
  double requests_per_s = 0;
  double burst = 0;  // requests that may come at once; 0: those of one second
  uint64_t concurrency = 0;
  double bytes_per_s = 0;  // of the bodies of requests
  uint64_t queued_bytes = 0;
  uint32_t weight = 1;  // share of a model's queue
  bool operator==(const Quota&) const = default;
};

enum class QuotaKind { kRate, kConcurrency, kBytes, kQueuedBytes };
inline constexpr int kQuotaKinds = 4;

// A token bucket. Its state is the time at which it would be full again. Thread-safe.
class QuotaBucket {
 public:
  // Takes `amount` tokens if the bucket has them. With `debt`, it is enough that the bucket is not empty; its
  // level may become negative. Returns 0, or the time until the bucket will have enough.
  std::chrono::nanoseconds Take(double amount, double per_s, double burst, bool debt, Clock::time_point now);

 private:
  std::atomic<int64_t> full_ns_{INT64_MIN / 2};
};

// The clients that share a quota. Thread-safe.
class Tenant {
 public:
  Tenant(std::string name, uint32_t id) : name_(std::move(name)), id_(id) {}
  const std::string& name() const { return name_; }
  uint32_t id() const { return id_; }  // never 0
  uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  uint64_t in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  uint64_t queued_bytes() const { return queued_bytes_.load(std::memory_order_relaxed); }
  uint64_t refused(QuotaKind kind) const {
    return refused_[static_cast<size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  friend class Permit;
  const std::string name_;
  const uint32_t id_;
  QuotaBucket rate_, byte_rate_;
  std::atomic<uint64_t> requests_{0}, bytes_{0}, in_flight_{0}, queued_bytes_{0};
  std::array<std::atomic<uint64_t>, kQuotaKinds> refused_{};
};

struct QuotaRefusal {
  std::string message;  // empty: not refused
  std::chrono::milliseconds retry_after{0};
};

// The place of an inference in its tenant's quota. The destructor gives it back. Not thread-safe, but it may
// be destroyed on another thread.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept { *this = std::move(other); }
  Permit& operator=(Permit&& other) noexcept;
  ~Permit() { Release(); }

  // Counts a request of the tenant against its rate.
  static QuotaRefusal CountRequest(Tenant& tenant, const Quota& quota, Clock::time_point now);
  // Counts one inference in flight and the `bytes` bytes of its body.
  QuotaRefusal Acquire(std::shared_ptr<Tenant> tenant, const Quota& quota, uint64_t bytes,
                       Clock::time_point now);
  // Counts bytes that were not known before. After a refusal, the permit must be released.
  QuotaRefusal Grow(const Quota& quota, uint64_t bytes, Clock::time_point now);
  bool held() const { return tenant_ != nullptr; }
  void Release();

 private:
  std::shared_ptr<Tenant> tenant_;
  uint64_t bytes_ = 0;
};

// Keeps tenants over reloads, so that their counts go on. Thread-safe.
class TenantBook {
 public:
  std::shared_ptr<Tenant> Find(const std::string& name);
  void Keep(const std::vector<std::shared_ptr<Tenant>>& used);  // forgets all others
  std::vector<std::shared_ptr<Tenant>> All() const;             // in the order of their ids

 private:
  mutable std::mutex mutex_;
  uint32_t next_ = 1;
  std::map<std::string, std::shared_ptr<Tenant>> tenants_;
};

}  // namespace tern::server
