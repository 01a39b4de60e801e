// A request on its way through the server, and where its responses go.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "server/core/message.h"

namespace tern::server {

// When each phase of a call began. A phase that did not happen has the time of the phase before it.
struct CallTimes {
  Clock::time_point queued;   // parsed, and put into the queue
  Clock::time_point started;  // taken from the queue by an instance
  Clock::time_point input;    // inputs are being collected
  Clock::time_point compute;
  Clock::time_point output;
  Clock::time_point finished;
};

// The front end derives from it, implements OnResponse, and passes it to ModelVersion::Submit.
class Call : public std::enable_shared_from_this<Call> {
 public:
  virtual ~Call() = default;

  Request request;
  CallTimes times;

  // For the core: sends one response. The first one with `final` is the last; later ones are dropped.
  // Thread-safe: responses of several threads reach OnResponse one after the other.
  void Respond(Response response);

  // For the front end: the client disconnected or cancelled. A call in a queue leaves it at once and gets its
  // final response, kCancelled. A call that runs is stopped if its back end supports it. Thread-safe.
  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  const std::atomic<bool>* cancel_flag() const { return &cancelled_; }
  bool finished() const { return finished_.load(std::memory_order_acquire); }

  // For the core: `action` runs on Cancel, on the cancelling thread; at once if the call is cancelled
  // already. Replaces the previous action. An empty function removes it, and waits while the previous one
  // runs, unless that is on the calling thread. A call that is finished runs no action.
  void OnCancel(std::function<void()> action);

 protected:
  // Called on any thread: any number of times with final = false, then exactly once with final = true. Must
  // not block, because it may run on the thread that executes models.
  virtual void OnResponse(Response response) = 0;

 private:
  void Deliver(Response response);

  std::atomic<bool> cancelled_{false}, finished_{false};
  std::atomic<bool> in_action_{false};  // Cancel runs an action on canceller_
  std::mutex mutex_;
  std::function<void()> on_cancel_;
  std::thread::id canceller_;
  bool responding_ = false;  // a thread is in OnResponse and delivers `waiting_` afterwards
  std::deque<Response> waiting_;
};

}  // namespace tern::server
