#include "server/core/call.h"

namespace tern::server {

void Call::Respond(Response response) {
  if (!response.status.ok()) response.final = true;
  std::function<void()> unused;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    if (finished_.load(std::memory_order_relaxed)) return;
    if (response.final) {
      finished_.store(true, std::memory_order_release);
      unused.swap(on_cancel_);
    }
    if (responding_) {
      waiting_.push_back(std::move(response));
      return;
    }
    responding_ = true;
  }
  Deliver(std::move(response));
}

void Call::Deliver(Response response) {
  while (true) {
    const bool last = response.final;
    if (observer) observer->OnResponse(*this, response);
    OnResponse(std::move(response));
    if (last) return;
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      responding_ = false;
      return;
    }
    response = std::move(waiting_.front());
    waiting_.pop_front();
  }
}

void Call::Cancel() {
  std::function<void()> action;
  {
    const std::lock_guard lock(mutex_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    cancelled_.store(true, std::memory_order_release);
    if (!on_cancel_) return;
    action.swap(on_cancel_);
    canceller_ = std::this_thread::get_id();
    in_action_.store(true, std::memory_order_relaxed);
  }
  action();
  in_action_.store(false, std::memory_order_release);
  in_action_.notify_all();
}

void Call::OnCancel(std::function<void()> action) {
  std::function<void()> previous;
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    previous.swap(on_cancel_);
    wait = !action && in_action_.load(std::memory_order_relaxed) && canceller_ != std::this_thread::get_id();
    if (finished_.load(std::memory_order_relaxed)) {
      previous = std::move(action);
      action = nullptr;
    } else if (!cancelled_.load(std::memory_order_relaxed)) {
      on_cancel_.swap(action);
    }
  }
  if (wait) in_action_.wait(true, std::memory_order_acquire);
  if (action) action();
}

}  // namespace tern::server
