// Threads that load models. Their priority is low, so that loading does not delay requests.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tern::server {

class LoadThreads {
 public:
  explicit LoadThreads(int count);
  ~LoadThreads() { Stop(); }  // runs the queued functions, then joins the threads
  LoadThreads(const LoadThreads&) = delete;
  LoadThreads& operator=(const LoadThreads&) = delete;
  // Runs `work` on one of the threads. `work` must not throw and must not wait for other work.
  void Post(std::function<void()> work);
  // Like Post, but waits for the result.
  Status Run(const std::function<Status()>& work);
  // Runs all functions in parallel and waits for them.
  void RunAll(const std::vector<std::function<void()>>& work);

 private:
  void Loop();
  void Stop();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tern::server
