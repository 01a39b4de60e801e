#include "server/scheduler/execution.h"

#include <algorithm>
#include <ctime>

#include "server/core/injected_delay.h"
#include "server/scheduler/iteration.h"
#include "server/scheduler/sequence.h"

namespace tern::server {
namespace {

// The results of an execution, one entry per request.
struct ResultParts {
  std::vector<std::vector<WireTensor>> outputs;
  std::vector<Iteration> iterations;  // empty: no request has another iteration
};

struct Stages {
  Clock::time_point input, compute, output, end;
  std::chrono::nanoseconds cpu_elsewhere{0};
  bool lost = false, timed_out = false;  // see Batch
};

Response Failed(Status status, bool timed_out = false) {
  Response response;
  response.status = std::move(status);
  response.timed_out = timed_out;
  return response;
}

std::vector<QueuedCallPtr> LiveCalls(const Pick& pick, std::vector<FinishedCall>& finished) {
  std::vector<QueuedCallPtr> live;
  for (const QueuedCallPtr& call : pick.calls) {
    if (call && pick.sequences.empty() && call->call->cancelled())
      finished.push_back({call, Failed(Status(Code::kCancelled, "the request was cancelled"))});
    else
      live.push_back(call);
  }
  return live;
}

class Runner {
 public:
  Runner(const ExecutionContext& context, ExecutionResult& result) : context_(context), result_(result) {}

  // Runs a batch and appends its responses. If the batch failed and its requests can be run again one by one,
  // appends no responses and returns the error.
  Status Run(const Pick& pick, bool may_retry) {
    Stages stages;
    stages.input = stages.compute = stages.output = Clock::now();
    const auto cpu_before = CpuTime();
    const BatchLayout layout = context_.builder.Layout(pick.calls);
    Result<ResultParts> parts = Guard([&] { return RunStages(pick, layout, stages); });
    stages.end = Clock::now();
    Account(layout, stages, CpuTime() - cpu_before);
    for (const QueuedCallPtr& call : pick.calls)
      if (call) SetStages(call->times, stages, static_cast<int>(layout.total));
    if (!parts.ok() && may_retry && !stages.lost && parts.status().code() != Code::kCancelled)
      return parts.TakeStatus();
    for (size_t i = 0; i < pick.calls.size(); ++i) {
      const QueuedCallPtr& call = pick.calls[i];
      if (!call) continue;
      call->dropped = !parts.ok();
      if (!parts.ok())
        result_.finished.push_back({call, Failed(parts.status(), stages.timed_out)});
      else if (parts->iterations.empty() || parts->iterations[i] == Iteration::kLast)
        result_.finished.push_back(
            {call, MakeResponse(context_.config, call->call->request, std::move(parts->outputs[i]))});
      else
        RunAgain(call, parts->iterations[i], std::move(parts->outputs[i]), stages.end);
    }
    return {};
  }

 private:
  // Marks the request for another iteration, or ends it with an error.
  void RunAgain(const QueuedCallPtr& call, Iteration iteration, std::vector<WireTensor> outputs,
                Clock::time_point now) {
    Response response;
    response.status = CheckAgain(context_.config, *call, now);
    const bool responds = context_.config.decoupled && iteration == Iteration::kResponds;
    if (response.status.ok() && responds)
      response = MakeResponse(context_.config, call->call->request, std::move(outputs));
    call->dropped = !response.status.ok();
    if (call->dropped) return result_.finished.push_back({call, std::move(response)});
    AddEarlier(call->times, now);
    call->again = true;
    response.final = false;
    if (responds) result_.partial.push_back({call, std::move(response)});
  }

  Result<ResultParts> RunStages(const Pick& pick, const BatchLayout& layout, Stages& stages) {
    Batch batch;
    batch.threads = context_.threads;
    if (pick.calls.size() == 1) batch.stop.cancel = pick.calls[0]->call->cancel_flag();
    TERN_TRY(context_.builder.Build(layout, batch));
    TERN_TRY(context_.feeder.Prepare(pick, batch));
    InjectDelay(Phase::kInput);
    batch.requests = &layout.requests;
    batch.items = &layout.items;
    batch.config = &context_.config;
    batch.epoch = context_.epoch;
    stages.compute = stages.output = Clock::now();
    InjectDelay(Phase::kCompute);
    auto outputs = context_.backend.Run(batch);
    stages.output = Clock::now();
    stages.cpu_elsewhere = batch.cpu_elsewhere;
    stages.lost = batch.lost;
    stages.timed_out = batch.timed_out;
    if (!outputs.ok()) return outputs.TakeStatus();
    ResultParts parts;
    if (!batch.again.empty()) {
      TERN_ASSIGN(parts.iterations, IterationsOf(layout, batch.again));
    }
    context_.feeder.Finish(pick, *outputs);
    TERN_ASSIGN(parts.outputs, context_.builder.Split(layout, std::move(*outputs)));
    InjectDelay(Phase::kOutput);
    return parts;
  }

  std::chrono::nanoseconds CpuTime() const {
    return context_.elapsed_as_cpu.count() > 0 ? std::chrono::nanoseconds(0) : ThreadCpuTime();
  }

  void Account(const BatchLayout& layout, const Stages& stages, std::chrono::nanoseconds thread_cpu) {
    const auto elapsed =
        std::min<std::chrono::nanoseconds>(stages.end - stages.input, context_.elapsed_as_cpu);
    const auto cpu = stages.cpu_elsewhere.count() > 0      ? thread_cpu + stages.cpu_elsewhere
                     : context_.elapsed_as_cpu.count() > 0 ? elapsed
                                                           : thread_cpu * context_.threads;
    result_.cpu += cpu;
    result_.duration += stages.end - stages.input;
    result_.batch_size = static_cast<int>(layout.padded);
    context_.statistics.AddExecution(static_cast<int>(layout.total), stages.compute - stages.input,
                                     stages.output - stages.compute, stages.end - stages.output, cpu);
  }

  static void AddEarlier(CallTimes& times, Clock::time_point end) {
    times.earlier.input += times.compute - times.input;
    times.earlier.compute += times.output - times.compute;
    times.earlier.output += end - times.output;
  }

  static void SetStages(CallTimes& times, const Stages& stages, int batch) {
    times.batch = batch;
    times.input = stages.input;
    times.compute = stages.compute;
    times.output = stages.output;
  }

  const ExecutionContext& context_;
  ExecutionResult& result_;
};

void TellEnds(const Pick& pick, BackendInstance& backend) {
  for (const auto& sequence : pick.ended)
    (void)Guard([&]() -> Status {
      backend.EndSequence(sequence->id);
      return {};
    }).ok();
}

}  // namespace

ExecutionResult Execute(const ExecutionContext& context, const Pick& pick) {
  ExecutionResult result;
  TellEnds(pick, context.backend);
  InjectDelay(Phase::kQueue);
  const Clock::time_point started = Clock::now();
  for (const QueuedCallPtr& call : pick.calls) {
    if (!call) continue;
    call->times.input = started;
    if (call->executions++ == 0)
      call->times.started = started;
    else
      call->times.earlier.queue += started - call->queued;
  }
  Pick live{LiveCalls(pick, result.finished), pick.sequences, kNever};
  if (live.calls.empty()) return result;
  Runner runner(context, result);
  const bool several = live.calls.size() > 1 && live.sequences.empty();
  if (runner.Run(live, several).ok()) return result;
  for (const QueuedCallPtr& call : live.calls) (void)runner.Run(Pick{{call}, {}, kNever}, false);
  result.batch_size = 0;  // the duration is that of several executions, so nothing can be learned from it
  return result;
}

std::chrono::nanoseconds ThreadCpuTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void SetTimes(CallTimes& times, Clock::time_point now) {
  times = {.queued = now,
           .started = now,
           .input = now,
           .compute = now,
           .output = now,
           .finished = now,
           .cache = times.cache,
           .held = times.held};
}

}  // namespace tern::server
