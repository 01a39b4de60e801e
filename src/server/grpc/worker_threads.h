// Threads for calls that wait, such as the load of a model. They start with the first call.
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
  ~WorkerThreads();  // waits for the functions that run, and drops the others
  // Returns false, and drops the function, if too many wait.
  bool Post(std::function<void()> function);

 private:
  void Run();

  const int limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> functions_;
  std::vector<std::thread> threads_;
  int idle_ = 0;
  bool stop_ = false;
};

}  // namespace tern::server
