// Decides which requests of a model are executed next. One implementation per kind of model.
#pragma once
#include <memory>
#include <vector>

#include "server/core/backend.h"
#include "server/scheduler/call_queue.h"
#include "server/scheduler/latency_model.h"

namespace tern::server {

struct Sequence;

// The requests of one execution.
struct Pick {
  std::vector<QueuedCallPtr> calls;                  // null: an empty slot of a sequence batch
  std::vector<std::shared_ptr<Sequence>> sequences;  // of the calls, for sequence models; null as in `calls`
  Clock::time_point again = kNever;                  // calls is empty: when it is worth to look again
  bool empty() const { return calls.empty(); }
};

// All functions are called under the model's lock, except Prepare and Finish.
class Feeder {
 public:
  virtual ~Feeder() = default;
  // Accepts a request, or refuses it. retry_after: set with kResourceExhausted.
  virtual Status Push(const QueuedCallPtr& call, Clock::time_point now,
                      std::chrono::milliseconds& retry_after) = 0;
  // Removes a request that waits; false if it does not.
  virtual bool Erase(QueuedCall& call) = 0;
  // Takes the requests of the next execution of an idle instance.
  virtual Pick Take(int instance, Clock::time_point now, std::vector<RejectedCall>& rejected) = 0;
  // Rejects what waited too long. Called at the time of NextTimer.
  virtual void Expire(Clock::time_point now, std::vector<RejectedCall>& rejected) = 0;
  virtual Clock::time_point NextTimer() const = 0;
  virtual std::vector<QueuedCallPtr> Clear() = 0;
  virtual size_t size() const = 0;  // requests that wait

  // An execution starts on an instance.
  virtual void OnStart(int /*instance*/, const Pick&, Clock::time_point /*now*/) {}
  // Adds inputs of its own to the batch. Not under the lock.
  virtual Status Prepare(const Pick&, Batch&) { return {}; }
  // Takes the outputs that are not for clients. Called after an execution without an error, not under the
  // lock.
  virtual void Finish(const Pick&, std::vector<WireTensor>&) {}
  // The execution is over. batch_size: 0 if the model did not run. waited: for a thread.
  virtual void Done(int /*instance*/, const Pick&, int /*batch_size*/, std::chrono::nanoseconds /*duration*/,
                    std::chrono::nanoseconds /*waited*/, Clock::time_point /*now*/) {}
};

// One request per execution, or dynamic batches, or batches by a latency goal. lanes: executions that can run
// at the same time.
std::unique_ptr<Feeder> MakeQueueFeeder(const ModelConfig& config, int lanes);
// Sequences of requests to stateful models.
Result<std::unique_ptr<Feeder>> MakeSequenceFeeder(const ModelConfig& config);

}  // namespace tern::server
