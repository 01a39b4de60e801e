// Repeats operations that failed for a temporary reason.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "base/stop.h"

namespace tern::server {

struct RetryOptions {
  int attempts = 5;
  std::chrono::milliseconds first{200}, most{5000};  // the waiting time doubles from `first` to `most`
};

// Calls `attempt` until it succeeds, fails with another code than kIo, or was called `attempts` times. Waits
// between two calls. The time is random, between half of the waiting time and all of it, so that many servers
// do not return at the same moment. Returns kCancelled when `stop` says so. Adds to `retries`.
Status Retry(const RetryOptions& options, const Stop& stop, std::atomic<uint64_t>* retries,
             const std::function<Status()>& attempt);

// Waits for this time. Returns kCancelled early when `stop` says so.
Status Pause(std::chrono::milliseconds time, const Stop& stop);

}  // namespace tern::server
