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

void ModelRunner::RunDecoupled(const Job& job) {
  const QueuedCallPtr queued = job.pick.calls[0];
  const Clock::time_point started = Clock::now();
  CallTimes& times = queued->call->times;
  times.started = times.input = times.compute = times.output = started;
  auto send = [self = shared_from_this(), queued](Response response) {
    const bool last = response.final;
    if (response.status.ok() && !response.outputs.empty()) {
      Response made = MakeResponse(self->config(), queued->call->request, std::move(response.outputs));
      made.parameters = std::move(response.parameters);
      made.final = last || !made.status.ok();
      response = std::move(made);
    }
    if (!response.final) return queued->call->Respond(std::move(response));
    if (!queued->call->finished()) queued->call->times.output = Clock::now();
    self->Send({queued, std::move(response)});
    if (last) self->Forget(1);
  };
  auto call = std::make_shared<DecoupledCall>(std::move(send));
  call->request = queued->call->request;
  call->times = times;
  queued->call->OnCancel([weak = std::weak_ptr<Call>(call)] {
    if (const auto running = weak.lock()) running->Cancel();
  });
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
