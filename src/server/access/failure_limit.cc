#include "server/access/failure_limit.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

namespace tern::server {
namespace {

using std::chrono::milliseconds;

uint64_t Mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93;
  return x ^ x >> 32;
}

uint64_t RandomSeed() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

uint64_t AddressKey(std::string_view peer) {
  const size_t colon = peer.rfind(':');
  if (colon == peer.npos) return 0;
  std::string host(peer.substr(0, colon));
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return Mix(four.s_addr) | 1;
  if (host.size() < 2 || host.front() != '[' || host.back() != ']') return 0;
  host = host.substr(1, host.size() - 2);
  in6_addr six{};
  if (inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &six) != 1) return 0;
  uint64_t network = 0;
  uint32_t last = 0;
  std::memcpy(&network, &six, sizeof network);
  std::memcpy(&last, reinterpret_cast<const char*>(&six) + 12, sizeof last);
  // A client of IPv4 on a socket of IPv6.
  if (IN6_IS_ADDR_V4MAPPED(&six)) return Mix(last) | 1;
  return Mix(network + 0x9E3779B97F4A7C15) | 1;
}

FailureLimit::FailureLimit(int per_minute)
    : per_minute_(per_minute),
      gap_(per_minute > 0 ? Clock::duration(std::chrono::minutes(1)) / per_minute : Clock::duration(0)),
      seed_(RandomSeed()) {}

std::array<FailureLimit::Entry, FailureLimit::kWays>& FailureLimit::SetOf(uint64_t address) {
  return sets_[Mix(address ^ seed_) % kSets];
}

void FailureLimit::Add(uint64_t address, Clock::time_point now) {
  if (per_minute_ <= 0 || address == 0) return;
  const std::lock_guard lock(mutex_);
  any_.store(true, std::memory_order_relaxed);
  auto& set = SetOf(address);
  Entry* entry = &set[0];
  for (Entry& candidate : set) {
    if (candidate.address == address) {
      entry = &candidate;
      break;
    }
    if (candidate.empty < entry->empty) entry = &candidate;
  }
  if (entry->address != address) *entry = {address, now};
  // A full bucket does not become fuller, so an address is blocked for at most gap_ after its last failure.
  entry->empty = std::min(std::max(entry->empty, now) + gap_, now + Depth());
}

milliseconds FailureLimit::Blocked(uint64_t address, Clock::time_point now) {
  if (!any_.load(std::memory_order_relaxed) || address == 0) return milliseconds(0);
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : SetOf(address))
    if (entry.address == address) {
      const auto over = entry.empty + gap_ - now - Depth();
      return over.count() > 0 ? std::chrono::ceil<milliseconds>(over) : milliseconds(0);
    }
  return milliseconds(0);
}

uint64_t FailureLimit::blocked_addresses(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  uint64_t count = 0;
  for (const auto& set : sets_)
    for (const Entry& entry : set) count += entry.address != 0 && entry.empty + gap_ > now + Depth();
  return count;
}

}  // namespace tern::server
