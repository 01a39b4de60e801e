// Test support for src/base.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/thread_pool.h"

namespace tern {

// Starts threads outside the pool that count as running (ActiveScope), so that the pool leaves a core to each
// of them. The threads only sleep. The destructor ends them.
class BusyThreads {
 public:
  void Start(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        const ActiveScope active_scope, nested;  // two scopes, but the pool must count the thread once
        present_.fetch_add(1);
        while (!done_.load()) std::this_thread::sleep_for(std::chrono::microseconds(200));
      });
    while (present_.load() < count) std::this_thread::yield();
  }
  ~BusyThreads() {
    done_.store(true);
    for (auto& t : threads_) t.join();
  }

 private:
  std::atomic<int> present_{0};
  std::atomic<bool> done_{false};
  std::vector<std::thread> threads_;
};

}  // namespace tern
