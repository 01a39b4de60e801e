// Event loops with level-triggered epoll, timers and posted functions. Each loop has one thread.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tern::server {

// Gets the events of one file descriptor on the loop's thread.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void OnEvents(bool readable, bool writable, bool hang_up) = 0;
};

// Post and Stop are thread-safe. All other functions are called on the loop's thread.
class Loop {
 public:
  static Result<std::unique_ptr<Loop>> Create();
  ~Loop();

  // Watches a descriptor until Remove. An event that was collected before Remove is not delivered after it. A
  // hang-up of the whole connection is always reported, even with read = write = false. If the peer closes
  // only its sending direction, that is not reported while only writing is watched.
  Status Add(int fd, Watcher* watcher, bool read, bool write);
  void Change(int fd, Watcher* watcher, bool read, bool write);
  void Remove(int fd, Watcher* watcher);

  // Queues a function, which soon runs on the loop's thread. Functions run in the order of Post. After Stop,
  // queued functions are destroyed without being called.
  void Post(std::function<void()> function);
  // Runs a function once after a delay, unless the timer is cancelled. Returns the timer's number, which is
  // never 0.
  uint64_t After(std::chrono::milliseconds delay, std::function<void()> function);
  void Cancel(uint64_t timer);

  void Run();  // returns after Stop
  void Stop();
  bool OnThread() const;

 private:
  struct State;
  explicit Loop(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Loops with their threads.
class Loops {
 public:
  static Result<std::unique_ptr<Loops>> Start(int count);
  ~Loops();  // stops and joins
  int count() const { return static_cast<int>(loops_.size()); }
  Loop& at(int i) { return *loops_[static_cast<size_t>(i)]; }

 private:
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace tern::server
