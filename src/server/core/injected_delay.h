// Delays that tests inject into the stages of requests, to check that the server names the slow stage.
// Operators do not use them. The environment variable TERN_TEST_DELAY_FILE names a file with lines such as
// "queue 20", which delay every request by 20 ms in that stage. The file may change while the server runs.
// Without the variable, InjectDelay reads one atomic flag.
#pragma once
#include <atomic>
#include <string>

#include "server/core/statistics.h"

namespace tern::server {

namespace injected {
extern std::atomic<bool> active;
void Wait(Phase phase);
}  // namespace injected

// Takes delays from this file, which is read again after 10 ms at the earliest. An empty path turns the
// delays off.
void UseDelayFile(const std::string& path);

inline void InjectDelay(Phase phase) {
  if (injected::active.load(std::memory_order_relaxed)) injected::Wait(phase);
}

}  // namespace tern::server
