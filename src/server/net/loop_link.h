// Posts to a loop from objects that may outlive it.
#pragma once
#include <mutex>

#include "server/net/loop.h"

namespace tern::server {

// Calls share its ownership, because a model may answer after the connection, or even the loop, was
// destroyed.
class LoopLink {
 public:
  // Constructed on the loop's thread.
  explicit LoopLink(Loop& loop) : thread_(std::this_thread::get_id()), loop_(&loop) {}
  bool OnThread() const { return std::this_thread::get_id() == thread_; }
  // Thread-safe. Drops the function after Close.
  void Post(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    if (loop_) loop_->Post(std::move(function));
  }
  // Thread-safe. The loop must live until Close returns.
  void Close() {
    const std::lock_guard lock(mutex_);
    loop_ = nullptr;
  }

 private:
  const std::thread::id thread_;
  std::mutex mutex_;
  Loop* loop_;
};

}  // namespace tern::server
