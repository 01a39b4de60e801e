// Executions of decoupled models, which send any number of responses.
#include "server/scheduler/model_runner.h"

namespace tern::server {
namespace {

// The call that the back end gets instead of the front end's call. It passes each response to `send`.
class DecoupledCall final : public Call {
 public:
  explicit DecoupledCall(std::function<void(Response)> send) : send_(std::move(send)) {}
  ~DecoupledCall() override {
    if (finished()) return;
    Response response;
    response.status = Status(Code::kInternal, "the model ended without a final response");
    send_(std::move(response));
  }

 private:
  void OnResponse(Response response) override { send_(std::move(response)); }

  const std::function<void(Response)> send_;
};

}  // namespace

std::shared_ptr<Call> ModelRunner::OpenStream(const QueuedCallPtr& queued) {
  auto send = [self = shared_from_this(), queued,
               worker = std::this_thread::get_id()](Response response) mutable {
    const bool last = response.final;
    if (response.status.ok() && !response.outputs.empty()) {
      Response made = MakeResponse(self->config(), queued->call->request, std::move(response.outputs));
      made.parameters = std::move(response.parameters);
      made.final = last || !made.status.ok();
      response = std::move(made);
    }
    if (!response.final) {
      self->HearStream(*queued);
      return queued->call->Respond(std::move(response));
    }
    queued->times.output = Clock::now();
    self->Send({queued, std::move(response)});
    // The response could not be made. The request has ended, but the back end still works on it.
    if (!last) return self->CancelStream(*queued);
    self->CloseStream(*queued);
    // A thread of the back end must not destroy the model: destroy_instance may wait for that thread.
    if (std::this_thread::get_id() == worker) return;
    const std::shared_ptr<Executor> executor = self->executor_;
    executor->Drop(std::move(self));
  };
  auto call = std::make_shared<DecoupledCall>(std::move(send));
  call->request = queued->call->request;
  call->times = queued->times;
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    streams_[queued.get()] = {queued, call, LateFrom(Clock::now())};
    ended = ended_;
  }
  executor_->At(LateFrom(Clock::now()), shared_from_this());
  queued->call->OnCancel([weak = std::weak_ptr<Call>(call)] {
    if (const auto running = weak.lock()) running->Cancel();
  });
  // If `ended` is true, Drain answered the request before it had a stream. A finished call runs no action, so
  // OnCancel has not cancelled the new call.
  if (ended) call->Cancel();
  return call;
}

void ModelRunner::HearStream(const QueuedCall& queued) {
  if (config().execution_timeout.count() <= 0) return;
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(&queued);
  if (found != streams_.end() && found->second.late != kNever) found->second.late = LateFrom(Clock::now());
}

void ModelRunner::CancelStream(const QueuedCall& queued) {
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(&queued);
    if (found != streams_.end()) call = found->second.call.lock();
  }
  if (call) call->Cancel();
}

void ModelRunner::CloseStream(const QueuedCall& queued) {
  Stream closed;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    if (auto found = streams_.extract(&queued)) closed = std::move(found.mapped());
  }
  Forget(1);
}

void ModelRunner::RunDecoupled(const Job& job) {
  const QueuedCallPtr queued = job.pick.calls[0];
  const Clock::time_point started = Clock::now();
  CallTimes& times = queued->times;
  times.started = times.input = times.compute = times.output = started;
  const std::shared_ptr<Call> call = OpenStream(queued);
  const auto cpu_before = ThreadCpuTime();
  BackendInstance& backend = *instances_[static_cast<size_t>(job.instance)].backend;
  Status status = Guard([&]() -> Status {
    backend.RunCall(call);
    return {};
  });
  if (!status.ok()) {
    Response response;
    response.status = std::move(status);
    call->Respond(std::move(response));
  }
  ExecutionResult result;
  result.cpu = ThreadCpuTime() - cpu_before;
  result.duration = Clock::now() - started;
  result.batch_size = static_cast<int>(queued->items);
  Charge(result.cpu.count());
  statistics().AddExecution(result.batch_size, {}, result.duration, {}, result.cpu);
  Release(job, result, nullptr);
}

}  // namespace tern::server
