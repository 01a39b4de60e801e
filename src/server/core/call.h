// A request while the server processes it, and the function that gets its responses.
#pragma once
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// The sums of the phases of all executions of a request except the last one. Only requests of iterative
// models are executed more than once.
struct EarlierPhases {
  std::chrono::nanoseconds queue{0}, input{0}, compute{0}, output{0};
};

// When each phase of a call began. A phase that did not happen has the time of the phase before it.
struct CallTimes {
  Clock::time_point queued;   // parsed, and put into the queue
  Clock::time_point started;  // taken from the queue by an instance, for the first time
  Clock::time_point input;    // inputs are being collected for the last execution
  Clock::time_point compute;
  Clock::time_point output;
  Clock::time_point finished;
  EarlierPhases earlier{};
  // The part of the time before `queued` that the search in the response cache took.
  std::chrono::nanoseconds cache{0};
  int batch = 0;                     // the size of the last execution's batch; 0: not known
  std::chrono::nanoseconds held{0};  // before `queued`, while the model was loaded; part of the queue's phase
};

class Call;

// Sees the responses of a call before its front end does. The rollouts of versions use it.
class ResponseObserver {
 public:
  virtual ~ResponseObserver() = default;
  // Called on the thread that responds, and must not block. For the final response, call.times is complete.
  virtual void OnResponse(const Call& call, const Response& response) = 0;
};

// A front end derives a class from Call, implements OnResponse, and passes the object to
// ModelVersion::Submit.
class Call : public std::enable_shared_from_this<Call> {
 public:
  virtual ~Call() = default;

  Request request;
  CallTimes times;
  std::shared_ptr<ResponseObserver> observer;  // for the core; set before the call is submitted; may be null

  // For the core. Sends one response. Responses after the first one with `final` are dropped. Thread-safe. If
  // several threads respond, OnResponse gets the responses one after the other.
  void Respond(Response response);

  // For the front end, when the client has disconnected or cancelled. A queued call leaves its queue at once
  // and gets a final response with kCancelled. A running call is stopped if its back end supports that.
  // Thread-safe.
  void Cancel();
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  const std::atomic<bool>* cancel_flag() const { return &cancelled_; }
  bool finished() const { return finished_.load(std::memory_order_acquire); }

  // For the core. Sets the action that Cancel runs, on the thread that calls Cancel. If the call is cancelled
  // already, the action runs at once. The new action replaces the previous one. An empty function removes the
  // previous action, and waits until it has returned if another thread is running it. A finished call runs no
  // action.
  void OnCancel(std::function<void()> action);

  // For the core. Adds a function that sees each response before OnResponse, on the same thread. It must not
  // block. Called before the call is submitted to a model that may answer it.
  void Tap(std::function<void(const Response&)> tap) { taps_.push_back(std::move(tap)); }
  // For the core. An ensemble sets the identities of the versions that ran as its steps, in their order.
  std::vector<std::string> step_identities;

 protected:
  // Called on any thread: any number of times with final = false, then exactly once with final = true. Must
  // not block, because it may run on the thread that executes models.
  virtual void OnResponse(Response response) = 0;

 private:
  void Deliver(Response response);

  std::atomic<bool> cancelled_{false}, finished_{false};
  std::atomic<bool> in_action_{false};  // Cancel is running an action on the thread canceller_
  std::mutex mutex_;
  std::function<void()> on_cancel_;
  std::thread::id canceller_;
  bool responding_ = false;  // a thread is in OnResponse and will deliver waiting_ afterwards
  std::deque<Response> waiting_;
  std::vector<std::function<void(const Response&)>> taps_;
};

}  // namespace tern::server
