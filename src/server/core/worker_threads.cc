#include "server/core/worker_threads.h"

#include "base/status.h"

namespace tern::server {

void WorkerThreads::Stop() {
  std::deque<std::function<void()>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    dropped.swap(functions_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool WorkerThreads::Post(std::function<void()> function) {
  constexpr size_t kMaxWaiting = 1024;
  const std::lock_guard lock(mutex_);  // `function` is destroyed without the lock
  if (stop_ || functions_.size() >= kMaxWaiting) return false;
  const bool wanted =
      idle_ <= static_cast<int>(functions_.size()) && static_cast<int>(threads_.size()) < limit_;
  // If the system has no further thread, those that exist run the function later.
  if (wanted && !StartThread() && threads_.empty()) return false;
  functions_.push_back(std::move(function));
  changed_.notify_one();
  return true;
}

bool WorkerThreads::StartThread() {
  try {
    threads_.emplace_back([this] { Run(); });
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void WorkerThreads::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [&] { return stop_ || !functions_.empty(); });
    --idle_;
    if (stop_) return;
    std::function<void()> function = std::move(functions_.front());
    functions_.pop_front();
    lock.unlock();
    // A function answers its request itself. An exception that it does not handle must not end the process.
    static_cast<void>(Guard([&]() -> Status {
      function();
      return {};
    }));
    function = nullptr;
    lock.lock();
  }
}

}  // namespace tern::server
