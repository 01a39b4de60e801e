// Executions on the thread that received the request, for models whose last executions took less than
// the limit (--inline-below-us).
#include "base/pause.h"
#include "server/scheduler/model_runner.h"

namespace tern::server {
namespace {

// Limits recursion, because an answer can cause the next request on the same thread.
constexpr int kMaxDepth = 4;
// After its own request, a thread also executes requests of other threads. These limit the number of
// executions, and their time in units of inline_below.
constexpr int kMaxRounds = 16;
constexpr int64_t kMaxTime = 4;
// If an execution takes less than this, waiting for a busy instance is cheaper than the queue.
constexpr int64_t kSpinBelowNs = 20'000;
constexpr int kSpinAttempts = 64;

thread_local int inline_depth = 0;

}  // namespace

bool ModelRunner::MayRunInline() const {
  const auto& c = config();
  if (c.sequence || c.decoupled || c.goal.p99.count() > 0) return false;
  // An execution that may hang, or that waits for another process, would stop the connections of this thread.
  if (c.execution_timeout.count() > 0 || model_->process()) return false;
  return !c.batching || c.batching->max_queue_delay.count() == 0;
}

bool ModelRunner::FitsInline(size_t calls) const {
  const double expected =
      static_cast<double>(single_ns_.load(std::memory_order_relaxed)) * static_cast<double>(calls);
  return expected <= static_cast<double>(kMaxTime * inline_below_.count());
}

// Marks an idle instance as busy with the request and returns its index. Returns -1 if there is no idle
// instance or `give_up` is set. Sets `give_up` if the caller must not wait for an idle instance, because the
// model drains or other requests are queued.
int ModelRunner::ClaimInline(const QueuedCallPtr& queued, bool& give_up) {
  const std::lock_guard lock(mutex_);
  give_up = draining_ || feeder_->size() > 0;
  if (give_up) return -1;
  Job job{IdleInstance(), {{queued}, {}, kNever}, {}};
  if (job.instance < 0) return -1;
  ++accepted_;
  Start(job, queued->queued);
  return job.instance;
}

bool ModelRunner::TryInline(const QueuedCallPtr& queued) {
  const int64_t cost = single_ns_.load(std::memory_order_relaxed);
  if (cost == 0 || cost >= inline_below_.count() || inline_depth >= kMaxDepth || !MayRunInline())
    return false;
  bool give_up = false;
  int instance = ClaimInline(queued, give_up);
  for (int i = 0; instance < 0 && !give_up && cost < kSpinBelowNs && i < kSpinAttempts; ++i) {
    for (int k = 0; k < 16; ++k) Pause();
    instance = ClaimInline(queued, give_up);
  }
  if (instance < 0) return false;
  RunInline({instance, {{queued}, {}, kNever}, {}});
  return true;
}

void ModelRunner::RunInline(Job job) {
  const auto self = shared_from_this();  // an answer may drop the caller's reference
  const Clock::time_point end = Clock::now() + kMaxTime * inline_below_;
  ++inline_depth;
  for (int round = 0; !job.empty(); ++round) {
    ExecutionResult result = Run(job, 1, inline_below_);
    Charge(result.cpu.count());
    Job next;
    // The thread that received a request also serves connections, so it leaves requests beyond these limits
    // to the executor.
    const bool more = round < kMaxRounds && Clock::now() < end;
    Release(job, result, more ? &next : nullptr);
    Answer(std::move(result.finished));
    job = std::move(next);
  }
  --inline_depth;
}

}  // namespace tern::server
