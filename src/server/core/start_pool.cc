#include "server/core/start_pool.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>

#include "base/thread_pool.h"

namespace tern::server {
namespace {

// Starts threads on a thread of its own. Lives as long as the process.
class Starter {
 public:
  static Starter& Shared() {
    static Starter* const starter = new Starter();
    return *starter;
  }
  std::thread Start(std::function<void()> body) {
    std::packaged_task<std::thread()> task([&] { return std::thread(std::move(body)); });
    auto started = task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
    return started.get();
  }

 private:
  Starter() {
    std::thread([this] { Run(); }).detach();
  }
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<std::thread()>> tasks_;
};

}  // namespace

void StartPool() {
  const Workers workers;
  workers.ParallelFor(workers.threads(), 1, [](int64_t, int64_t) {});
  Starter::Shared();
}

std::thread StartThread(std::function<void()> body) { return Starter::Shared().Start(std::move(body)); }

}  // namespace tern::server
