// A thread that expires requests whose time-out passes while they wait for their model to be loaded.
#pragma once
#include <memory>
#include <thread>

#include "server/core/message.h"

namespace tern::server {

class Expiring {
 public:
  virtual ~Expiring() = default;
  // Answers all calls whose time-out has passed. Called on the timer's thread.
  virtual void Expire(Clock::time_point now) = 0;
};

// Thread-safe. The first Add starts the thread.
class HoldTimer {
 public:
  HoldTimer();
  ~HoldTimer();
  HoldTimer(const HoldTimer&) = delete;
  HoldTimer& operator=(const HoldTimer&) = delete;
  // Calls Expire at `time`, if the object still exists then.
  void Add(Clock::time_point time, std::weak_ptr<Expiring> object);
  size_t size() const;  // number of calls of Add whose time has not passed

 private:
  // Shared with the thread. The thread may release the last reference to an object that owns this timer. The
  // State then outlives the timer.
  struct State;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tern::server
