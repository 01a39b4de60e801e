// Limits how often an address may present wrong credentials.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

// Returns a number for the address of a peer such as "127.0.0.1:40312" or "[2001:db8::1]:443". The addresses
// of a /64 of IPv6 have one number, because a client often has all of them. 0: a UNIX socket, or no address.
uint64_t AddressKey(std::string_view peer);

// Thread-safe. The memory is constant: a set holds four addresses, and a fifth address replaces the one whose
// bucket would be empty first.
class FailureLimit {
 public:
  explicit FailureLimit(int per_minute);  // 0: no limit
  // Counts a failure.
  void Add(uint64_t address, Clock::time_point now);
  // Returns how long the address is blocked from now; 0: it is not.
  std::chrono::milliseconds Blocked(uint64_t address, Clock::time_point now);
  uint64_t blocked_addresses(Clock::time_point now);

 private:
  static constexpr size_t kSets = 1024, kWays = 4;
  // A leaky bucket of failures, which empties at a constant rate. Its state is the time at which it is empty.
  struct Entry {
    uint64_t address = 0;
    Clock::time_point empty;
  };
  std::array<Entry, kWays>& SetOf(uint64_t address);
  Clock::duration Depth() const { return gap_ * per_minute_; }

  const int per_minute_;
  const Clock::duration gap_;  // the mean time between failures that the limit permits
  const uint64_t seed_;        // so that nobody can choose addresses that share a set
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::array<std::array<Entry, kWays>, kSets> sets_{};
};

}  // namespace tern::server
