// Threads that load models. Their priority is low, so that loading does not delay requests.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tern::server {

class LoadThreads {
  struct Wait {
    std::string what;
    std::chrono::steady_clock::time_point since;
  };

 public:
  // `most`: limit on the threads, those that wait included.
  explicit LoadThreads(int count, size_t most = 64);
  ~LoadThreads() { Stop(); }  // runs the queued functions, then joins the threads
  LoadThreads(const LoadThreads&) = delete;
  LoadThreads& operator=(const LoadThreads&) = delete;
  // Runs `work` on one of the threads. `work` must not throw and must not wait for other work.
  void Post(std::function<void()> work);
  // While this object exists, the calling thread does not count as one of the threads, so that other work can
  // run on a replacement. Use it for waits that may be long and take no processor time. On a thread that is
  // not a load thread, it has no effect. If there are too many threads, the log tells what they wait for.
  class Waiting {
   public:
    explicit Waiting(std::string what);  // "a trial of model 'm'"
    ~Waiting();
    bool cancelled() const;  // after Cancel
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    LoadThreads* const threads_;
    std::list<Wait>::iterator place_;
  };

  // Sets Waiting::cancelled, so that work that waits gives up. Called when the server stops.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

  // Like Post, but waits for the result.
  Status Run(const std::function<Status()>& work);

 private:
  struct Thread {
    std::thread thread;
    bool ended = false;  // it will not use this object any more
  };
  void Loop(Thread& self);
  void Stop();
  // The next two are called under the lock.
  void Start();  // starts threads until enough of them do not wait
  std::string DescribeWaits() const;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopped_ = false;
  std::atomic<bool> cancelled_{false};
  const int count_;
  const size_t most_;
  int running_ = 0;
  bool full_ = false;  // no thread can replace one that waits, which is in the log
  std::list<Wait> waits_;
  std::list<Thread> threads_;
};

}  // namespace tern::server
