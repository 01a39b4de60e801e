#include "bindings/python/pool.h"

#include <algorithm>

namespace tern::python {

Result<Session*> Slot::For(const std::vector<std::string>& constants) {
  if (constants == constants_) return &active();
  std::unique_ptr<Session> next;
  if (!constants.empty()) {
    TERN_ASSIGN(next, session_->Overriding(constants));
  }
  TERN_TRY((next ? *next : *session_).CopyStates(active()));
  variant_ = std::move(next);
  constants_ = constants;
  return &active();
}

std::unique_ptr<Slot> Pool::TakeLocked() {
  if (!free_.empty()) {
    std::unique_ptr<Slot> slot = std::move(free_.back());
    free_.pop_back();
    return slot;
  }
  if (made_ == limit_) return nullptr;
  auto slot = std::make_unique<Slot>(root_->Clone());
  ++made_;
  return slot;
}

std::unique_ptr<Slot> Pool::TryTake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return TakeLocked();
}

Result<std::unique_ptr<Slot>> Pool::Take(const Stop& stop) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    if (std::unique_ptr<Slot> slot = TakeLocked()) return slot;
    TERN_TRY(stop.Check());
    // The flag of `stop` does not wake this thread, so the wait is short.
    const auto wake = Stop::Clock::now() + std::chrono::milliseconds(10);
    freed_.wait_until(lock, std::min(stop.deadline, wake));
  }
}

void Pool::GiveBack(std::unique_ptr<Slot> slot) {
  if (!slot) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(slot));
  }
  freed_.notify_one();
}

}  // namespace tern::python
