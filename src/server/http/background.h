// Runs functions that may block, such as loading a model, on threads other than the event loops.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tern::server {

// Thread-safe. Starts threads when they are needed.
class Background {
 public:
  explicit Background(size_t threads) : limit_(threads) {}
  ~Background() { Stop(); }
  void Stop();  // drops the queued functions and waits for the running ones
  void Run(std::function<void()> function);

 private:
  void Work();

  const size_t limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  size_t idle_ = 0;
  bool stop_ = false;
};

}  // namespace tern::server
