// The threads that execute models, shared fairly between all models, and their timers.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "server/scheduler/call_queue.h"

namespace tern::server {

// Thread-safe. A free thread serves the client that has used the least processor time. No function of a
// client is called under a lock of the executor.
class Executor {
 public:
  // A model with work to do.
  class Client {
   public:
    virtual ~Client() = default;
    // Runs at most one execution, with at most `threads` threads.
    virtual void Work(int threads) = 0;
    // Called when the time that was passed to At is reached. Runs on the timer's thread and must be short.
    virtual void OnTimer() = 0;
    // What the log calls the client.
    virtual std::string Describe() const { return "a client"; }
    // Adds to the processor time that the client has used. A negative `ns` corrects an estimate.
    void Charge(int64_t ns) { used_ns_.fetch_add(ns, std::memory_order_relaxed); }
    int64_t used_ns() const { return used_ns_.load(std::memory_order_relaxed); }
    // The value that SetBackground has set.
    bool background() const { return background_.load(std::memory_order_acquire); }

   private:
    friend class Executor;
    std::atomic<int64_t> used_ns_{0};
    std::atomic<bool> background_{false};
    bool waits_ = false;                // under background_mutex_
    std::string name_;                  // under background_mutex_; what Describe returned
    bool ready_ = false;                // under mutex_
    Clock::time_point timer_ = kNever;  // under timer_mutex_; kNever: no entry in timers_
    std::multimap<Clock::time_point, std::weak_ptr<Client>>::iterator timer_place_;
  };

  // `patience`: the thread of a low-priority execution that takes longer is replaced by another thread, as
  // long as there are fewer than `most_background`.
  explicit Executor(int threads, std::chrono::milliseconds patience = std::chrono::seconds(1),
                    size_t most_background = 64);
  ~Executor() { Stop(); }
  // Ends the threads after their current executions. The owner calls it once, and not on one of these
  // threads.
  void Stop();

  // Tells the executor that the client has work. A thread then calls Work soon. Several calls of MakeReady
  // before that cause one call of Work.
  void MakeReady(std::shared_ptr<Client> client);
  // While `background` is true, the client runs on threads of low priority, with one thread per execution, so
  // that it takes no core from other clients. If all these threads are busy for long, for example because
  // executions hang, another one starts. If there are too many, the log names the clients that hang. Call it
  // when the client has no work.
  void SetBackground(const std::shared_ptr<Client>& client, bool background);
  // Releases a reference, which may be the last one, on one of the executor's threads. After Stop, releases
  // it on the calling thread.
  void Drop(std::shared_ptr<Client> client);
  // Calls OnTimer at the given time or earlier. A client has one timer, which keeps the earliest time.
  void At(Clock::time_point time, const std::shared_ptr<Client>& client);
  int threads() const { return threads_; }
  size_t timers();  // number of timers that are set

 private:
  struct BackgroundThread {
    std::thread thread;
    Clock::time_point started = kNever;  // of its execution; kNever: it is idle
    std::string client;                  // the name of the one that it executes
    bool slow = false;                   // the execution exceeds patience_
    bool ended = false;                  // it will not use this object any more
  };
  class BackgroundWatch;

  void RunWorker();
  void RunBackground(BackgroundThread& self);
  // The next three are called under background_mutex_.
  // Returns an error for the log if there are too many threads. Throws if the system gives no thread.
  std::string StartBackground();
  int MissingBackground() const;  // negative: there are more threads than necessary
  Clock::time_point NextBackgroundCheck() const;
  void CheckBackground();
  void RunTimer();
  void MakeReadyInBackground(std::shared_ptr<Client> client);
  std::shared_ptr<Client> TakeLeastUsed();

  const int threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Client>> ready_, dropped_;
  int busy_ = 0;
  bool stop_ = false;
  int64_t clock_ns_ = 0;  // the virtual time: the largest processor time that a chosen client had used
  std::vector<std::thread> workers_;

  // A thread of low priority that holds a lock of the other clients would make them wait, so background
  // clients have their own lock.
  std::mutex background_mutex_;
  std::condition_variable background_wake_;
  std::deque<std::shared_ptr<Client>> background_;
  std::list<BackgroundThread> background_workers_;  // the first ones start when the first client needs them
  bool background_stop_ = false;
  bool background_full_ = false;  // there are most_background_ threads, which is in the log
  const std::chrono::milliseconds patience_;
  const size_t most_background_;
  std::shared_ptr<Client> background_watch_;

  std::mutex timer_mutex_;
  std::condition_variable timer_wake_;
  std::multimap<Clock::time_point, std::weak_ptr<Client>> timers_;
  bool timer_stop_ = false;
  std::thread timer_thread_;
};

}  // namespace tern::server
