// Event loops: one thread each, with level-triggered epoll, timers and posted functions.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tern::server {

// Gets events of one file descriptor, on the loop's thread.
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

  // Watches a descriptor until Remove. An event that was collected before Remove is not delivered after it.
  // hang_up is reported also with read = write = false, but not that of one direction while only writing is
  // watched.
  Status Add(int fd, Watcher* watcher, bool read, bool write);
  void Change(int fd, Watcher* watcher, bool read, bool write);
  void Remove(int fd, Watcher* watcher);

  // Runs a function on the loop's thread, soon. Functions run in the order of Post. After Stop they are
  // destroyed without a call.
  void Post(std::function<void()> function);
  // Runs a function once after a delay, unless it is cancelled. Returns its number, which is never 0.
  uint64_t After(std::chrono::milliseconds delay, std::function<void()> function);
  void Cancel(uint64_t timer);

  void Run();  // until Stop
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
