// Threads for functions that must not run on an event loop, because they block or take long. The threads are
// started when they are needed.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tern::server {

// Thread-safe.
class WorkerThreads {
 public:
  explicit WorkerThreads(int limit) : limit_(limit) {}
  ~WorkerThreads() { Stop(); }
  // Queues a function. If too many functions are queued, if no thread can be started, or after Stop, drops it
  // and returns false.
  bool Post(std::function<void()> function);
  // Waits for the running functions and drops the queued ones.
  void Stop();

 private:
  void Run();
  bool StartThread();

  const int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> functions_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool stop_ = false;
};

}  // namespace tern::server
