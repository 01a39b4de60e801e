// What a model does if its process ends or if an execution takes too long.
#include "server/core/log.h"
#include "server/scheduler/model_runner.h"

namespace tern::server {

bool ModelRunner::Ready() const {
  const ModelProcess* process = model_->process();
  return !process || process->state() == ModelProcess::State::kUp;
}

std::shared_ptr<const ModelProcess> ModelRunner::process() const {
  const ModelProcess* process = model_->process();
  return process ? std::shared_ptr<const ModelProcess>(shared_from_this(), process) : nullptr;
}

void ModelRunner::WatchProcess() {
  ModelProcess* process = model_->process();
  if (!process) return;
  epoch_ = process->epoch();
  process->OnChange([weak = weak_from_this(), executor = executor_] {
    auto self = weak.lock();
    if (!self) return;
    executor->MakeReady(self);
    // The thread that calls this belongs to the model, so it must not destroy the model.
    executor->Drop(std::move(self));
  });
}

// Returns whether requests may be taken from the queue. If the process has been restarted, first rejects the
// requests of sequences that it has lost. While the process is being restarted, requests wait in the queue,
// where their time-outs apply. If it stays down, they are taken and fail.
bool ModelRunner::MayTake(std::vector<RejectedCall>& rejected) {
  const ModelProcess* process = model_->process();
  if (!process) return true;
  if (const uint64_t epoch = process->epoch(); epoch != epoch_) {
    epoch_ = epoch;
    feeder_->LoseSequences(rejected);
  }
  return process->state() != ModelProcess::State::kRestarting;
}

Clock::time_point ModelRunner::NextTimer() const {
  Clock::time_point next = feeder_->NextTimer();
  for (const Instance& instance : instances_) next = std::min(next, instance.late);
  for (const auto& [key, stream] : streams_) next = std::min(next, stream.late);
  return next;
}

// For an isolated model, the keeper ends executions that take too long.
Clock::time_point ModelRunner::LateFrom(Clock::time_point now) const {
  const bool watched = config().execution_timeout.count() > 0 && !model_->process();
  return watched ? now + config().execution_timeout : kNever;
}

// Returns the requests of executions that have exceeded their time-out. Each is returned once.
std::vector<QueuedCallPtr> ModelRunner::TakeLate(Clock::time_point now) {
  std::vector<QueuedCallPtr> late;
  for (Instance& instance : instances_) {
    if (instance.late > now) continue;
    instance.late = kNever;
    hangs_.fetch_add(1, std::memory_order_relaxed);
    for (const QueuedCallPtr& call : instance.running)
      if (call) late.push_back(call);
  }
  for (auto& [key, stream] : streams_) {
    if (stream.late > now) continue;
    stream.late = kNever;
    hangs_.fetch_add(1, std::memory_order_relaxed);
    late.push_back(stream.queued);
  }
  return late;
}

// Answers the requests with an error. Their executions go on, because a thread cannot be ended, so instances
// and threads stay busy until the executions end.
void ModelRunner::AnswerLate(const std::vector<QueuedCallPtr>& late) {
  if (late.empty()) return;
  const Status status =
      Unavailable("an execution of model '", config().name, "' takes longer than execution_timeout_ms, ",
                  config().execution_timeout.count());
  Log(LogLevel::kError, StrCat(status.message(), "; ", late.size(),
                               " requests are answered with an error, and a thread is busy until it ends"));
  for (const QueuedCallPtr& queued : late) {
    if (queued->answered.exchange(true)) continue;
    Call& call = *queued->call;
    SetTimes(call.times, call.times.queued);
    call.times.finished = Clock::now();
    statistics().AddFailure(call.times, call.request.arrived, FailReason::kBackend);
    Response response;
    response.status = status;
    response.timed_out = true;
    call.Respond(std::move(response));
    call.Cancel();  // a back end that checks for cancellation ends the execution
    if (runs_calls_) CancelStream(*queued);
  }
}

}  // namespace tern::server
