// Decides which requests of a model are executed next. One implementation per kind of model.
#pragma once
#include <memory>
#include <vector>

#include "server/core/backend.h"
#include "server/scheduler/call_queue.h"

namespace tern::server {

struct Sequence;

// The requests of one execution.
struct Pick {
  std::vector<QueuedCallPtr> calls;                  // null for an empty slot of a sequence batch
  std::vector<std::shared_ptr<Sequence>> sequences;  // of the calls, for sequence models; null as in `calls`
  Clock::time_point again = kNever;                  // if `calls` is empty: when to call Take again
  // Sequences that ended without the back end's knowledge. The back end is told of them before the calls are
  // executed.
  std::vector<std::shared_ptr<Sequence>> ended{};
  bool empty() const { return calls.empty() && ended.empty(); }
};

// All functions are called under the model's lock, except Prepare and Finish.
class Feeder {
 public:
  virtual ~Feeder() = default;
  // Accepts a request, or refuses it with an error. Sets retry_after if the error is kResourceExhausted.
  virtual Status Push(const QueuedCallPtr& call, Clock::time_point now,
                      std::chrono::milliseconds& retry_after) = 0;
  // Returns the error with which Push would refuse every request of the tenant that arrived at `arrived`.
  // Returns an ok status if Push might accept one. Sets retry_after as Push does.
  virtual Status CheckLoad(Clock::time_point /*arrived*/, uint32_t /*tenant*/, Clock::time_point /*now*/,
                           std::chrono::milliseconds& /*retry_after*/) {
    return {};
  }
  // Removes a waiting request. Returns false if the request does not wait.
  virtual bool Erase(QueuedCall& call) = 0;
  // Removes the requests of the next execution from the queue. `instance` must be idle.
  virtual Pick Take(int instance, Clock::time_point now, std::vector<RejectedCall>& rejected) = 0;
  // Rejects requests that waited too long, and ends sequences that were idle for too long. Called at the time
  // that NextTimer returns.
  virtual void Expire(Clock::time_point now, std::vector<RejectedCall>& rejected) = 0;
  virtual Clock::time_point NextTimer() const = 0;
  virtual std::vector<QueuedCallPtr> Clear() = 0;
  virtual size_t size() const = 0;  // requests that wait
  // Returns whether Take may return something, now or later.
  virtual bool HasWork() const { return size() > 0; }

  // Ends all sequences that the back end has begun to execute. Called when the back end has lost its data of
  // them. Rejects their waiting requests, up to the one that starts a new sequence with the same id.
  virtual void LoseSequences(std::vector<RejectedCall>& /*rejected*/) {}
  // Called when an execution starts on an instance.
  virtual void OnStart(int /*instance*/, const Pick&, Clock::time_point /*now*/) {}
  // Adds the feeder's inputs, such as the states of sequences, to the batch. Not called under the lock.
  virtual Status Prepare(const Pick&, Batch&) { return {}; }
  // Removes the outputs that are not for clients, such as states. Called after an execution without an error,
  // not under the lock.
  virtual void Finish(const Pick&, std::vector<WireTensor>&) {}
  // Called when the execution has ended. Puts calls with QueuedCall::again back into the queue. batch_size is
  // 0 if nothing can be learned from the duration. `waited` is the time that the execution waited for a
  // thread.
  virtual void Done(int /*instance*/, const Pick&, int /*batch_size*/, std::chrono::nanoseconds /*duration*/,
                    std::chrono::nanoseconds /*waited*/, Clock::time_point /*now*/) {}
};

// Makes a feeder for one request per execution, for dynamic batches, or for batches that meet a latency goal.
// `lanes` is the number of executions that can run at the same time.
std::unique_ptr<Feeder> MakeQueueFeeder(const ModelConfig& config, int lanes);
// Makes a feeder for sequences of requests to stateful models. If `tell_ends` is true, the picks list the
// sequences that ended without the back end's knowledge (Pick::ended).
Result<std::unique_ptr<Feeder>> MakeSequenceFeeder(const ModelConfig& config, bool tell_ends);

}  // namespace tern::server
