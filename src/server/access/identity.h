// Who sends a request, and what it may do.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/rights.h"
#include "server/access/tenant.h"

namespace tern::server {

using WallTime = std::chrono::system_clock::time_point;
inline constexpr WallTime kNoExpiry = WallTime::max();

// An entry of the access file. Constant, except for the atomics.
struct Identity {
  std::string name;
  Roles roles = 0;
  std::vector<std::string> models;  // patterns; empty: all models
  WallTime expires = kNoExpiry;
  std::shared_ptr<Tenant> tenant;
  Quota quota;
  std::atomic<bool> revoked{false};  // the entry was removed from the access file, or changed
  // The addresses from which the entry was used: one bit per hash of an address. While an address is blocked,
  // entries that were used from there before still work.
  std::atomic<uint64_t> addresses{0};

  bool PermitsModel(std::string_view model) const {
    if (models.empty()) return true;
    for (const std::string& pattern : models)
      if (MatchesPattern(model, pattern)) return true;
    return false;
  }
};

// The sender of one request.
struct Visitor {
  std::shared_ptr<Identity> identity;  // null: anonymous, or access control is off
  WallTime expires = kNoExpiry;        // of the entry, and of the client's certificate
  bool anonymous = false;              // access control is on, and there is no identity

  // Long streams call this repeatedly, because an entry may expire or be revoked meanwhile.
  bool Valid() const {
    if (!identity) return true;
    return !identity->revoked.load(std::memory_order_relaxed) &&
           (expires == kNoExpiry || std::chrono::system_clock::now() < expires);
  }
  bool Has(Right right) const { return identity ? Permits(identity->roles, right) : !anonymous; }
  bool PermitsModel(std::string_view model) const {
    return identity ? identity->PermitsModel(model) : !anonymous;
  }
  // Whether the identity is limited to some models. Then it may not do operations on all models.
  bool limited() const { return identity ? !identity->models.empty() : anonymous; }
  std::string_view name() const { return identity ? std::string_view(identity->name) : std::string_view(); }
};

// Sets the tenant of a request and its weight, because queues are shared fairly between tenants.
inline void SetTenant(const Visitor& visitor, Request& request) {
  if (!visitor.identity) return;
  request.tenant = visitor.identity->tenant->id();
  request.weight = visitor.identity->quota.weight;
}

}  // namespace tern::server
