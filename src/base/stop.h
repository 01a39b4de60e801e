// Ends a run early if another thread sets `cancel` or if `deadline` passes.
#pragma once
#include <atomic>
#include <chrono>

#include "base/status.h"

namespace tern {

struct Stop {
  using Clock = std::chrono::steady_clock;
  const std::atomic<bool>* cancel = nullptr;
  Clock::time_point deadline = Clock::time_point::max();

  // Returns kCancelled if the run must end. Called between steps. Reads the clock only if there is a
  // deadline.
  Status Check() const {
    if (cancel && cancel->load(std::memory_order_relaxed))
      return Status(Code::kCancelled, "the run was cancelled");
    if (deadline != Clock::time_point::max() && Clock::now() >= deadline)
      return Status(Code::kCancelled, "the run did not end before its deadline");
    return {};
  }
};

}  // namespace tern
