#include "server/http/background.h"

namespace tern::server {

void Background::Stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    dropped.swap(queue_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Background::Run(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  queue_.push_back(std::move(function));
  if (idle_ < queue_.size() && threads_.size() < limit_) threads_.emplace_back([this] { Work(); });
  changed_.notify_one();
}

void Background::Work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (queue_.empty()) {
      ++idle_;
      changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
      --idle_;
      continue;
    }
    auto function = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    function();
    function = nullptr;
    lock.lock();
  }
}

}  // namespace tern::server
