#include "server/scheduler/model_runner.h"

#include <algorithm>

#include "server/core/not_ready.h"
#include "server/scheduler/request_check.h"

namespace tern::server {
namespace {

constexpr int kMaxInstances = 1024;

FailReason ReasonOf(const Status& status) {
  return status.code() == Code::kCancelled ? FailReason::kCancelled : FailReason::kBackend;
}

}  // namespace

ModelRunner::ModelRunner(ModelConfig config, std::string version, std::unique_ptr<BackendModel> model,
                         std::shared_ptr<Executor> executor, const SchedulerOptions& options)
    : ModelVersion(std::move(config), std::move(version)),
      model_(std::move(model)),
      executor_(std::move(executor)),
      inline_below_(options.inline_below),
      builder_(this->config()) {}

Result<std::shared_ptr<ModelRunner>> ModelRunner::Create(ModelConfig config, std::string version,
                                                         std::unique_ptr<BackendModel> model,
                                                         std::shared_ptr<Executor> executor,
                                                         const SchedulerOptions& options) {
  if (!model) return InvalidArgument("model '", config.name, "' has no back end");
  if (config.max_batch_size < 0)
    return InvalidArgument("model '", config.name, "': max_batch_size must be >= 0, got ",
                           config.max_batch_size);
  if (config.instances < 1 || config.instances > kMaxInstances)
    return InvalidArgument("model '", config.name, "': the number of instances must be in 1..", kMaxInstances,
                           ", got ", config.instances);
  std::shared_ptr<ModelRunner> runner(
      new ModelRunner(std::move(config), std::move(version), std::move(model), std::move(executor), options));
  TERN_TRY(runner->CreateParts());
  return runner;
}

Status ModelRunner::CreateParts() {
  const bool iterative = config().sequence && config().sequence->iterative;
  runs_calls_ = config().decoupled && !iterative && model_->RunsCalls();
  if (config().sequence && !runs_calls_) {
    TERN_ASSIGN(feeder_, MakeSequenceFeeder(config(), model_->KeepsSequences()));
    // An iterative request is started several times, so it has no place in the order.
    keeps_order_ = config().sequence->preserve_ordering && !iterative;
  } else {
    feeder_ = MakeQueueFeeder(config(), executor_->threads());
    keeps_order_ = config().batching && config().batching->preserve_ordering && !config().decoupled;
  }
  for (int i = 0; i < config().instances; ++i) {
    TERN_ASSIGN(auto backend, Guard([&] { return model_->CreateInstance(); }));
    instances_.push_back({std::move(backend), false, {}});
  }
  WatchProcess();
  return {};
}

ModelRunner::~ModelRunner() {
  std::vector<RejectedCall> left;
  if (feeder_)
    for (QueuedCallPtr& call : feeder_->Clear()) left.push_back({std::move(call), NotReady(*this), {}});
  Reject(std::move(left));
}

size_t ModelRunner::Pending() const {
  const std::lock_guard lock(mutex_);
  return feeder_->size();
}

std::vector<std::pair<std::string, double>> ModelRunner::Metrics() const {
  auto metrics =
      Guard([&]() -> Result<std::vector<std::pair<std::string, double>>> { return model_->Metrics(); });
  return metrics.ok() ? std::move(*metrics) : std::vector<std::pair<std::string, double>>();
}

void ModelRunner::Submit(std::shared_ptr<Call> call) {
  const Clock::time_point now = Clock::now();
  SetTimes(call->times, now);
  auto items = CheckRequest(config(), call->request);
  if (!items.ok()) return Refuse(*call, items.TakeStatus(), {}, FailReason::kOther);
  const auto queued = std::make_shared<QueuedCall>();
  queued->times.held = call->times.held;
  queued->call = std::move(call);
  queued->items = *items;
  queued->queued = now;
  queued->times = queued->call->times;
  // A rollout compares the durations of copies on two versions, so all of them run on the executor's threads.
  if (queued->call->request.copy || !TryInline(queued)) Enqueue(queued, now);
}

bool ModelRunner::RefuseIfOverloaded(Call& call) {
  if (config().goal.p99.count() <= 0) return false;
  const Clock::time_point now = Clock::now();
  std::chrono::milliseconds retry_after{0};
  Status status;
  {
    const std::lock_guard lock(mutex_);
    if (draining_) return false;
    status = feeder_->CheckLoad(call.request.arrived, call.request.tenant, now, retry_after);
  }
  if (status.ok()) return false;
  SetTimes(call.times, now);
  Refuse(call, std::move(status), retry_after, FailReason::kRejected);
  return true;
}

void ModelRunner::Enqueue(const QueuedCallPtr& queued, Clock::time_point now) {
  const std::shared_ptr<Call> call = queued->call;
  // The action is set before Push. After Push, the call may already be executing, and the execution may set
  // another action.
  call->OnCancel([weak = weak_from_this(), queued] {
    if (const auto self = weak.lock()) self->CancelQueued(queued);
  });
  std::chrono::milliseconds retry_after{0};
  Status status;
  bool wake = false;
  Clock::time_point timer = kNever;
  {
    const std::lock_guard lock(mutex_);
    status = draining_ ? NotReady(*this) : feeder_->Push(queued, now, retry_after);
    if (status.ok()) {
      ++accepted_;
      wake = IdleInstance() >= 0;
      if (wake && ready_since_ == kNever) ready_since_ = now;
      timer = NextTimer();
    }
  }
  if (!status.ok()) {
    const bool bad = status.code() == Code::kInvalidArgument;
    return Refuse(*call, std::move(status), retry_after, bad ? FailReason::kOther : FailReason::kRejected);
  }
  if (wake) executor_->MakeReady(shared_from_this());
  executor_->At(timer, shared_from_this());
  // If the call was cancelled before Push, the action found nothing in the queue. So this check is repeated.
  if (call->cancelled()) CancelQueued(queued);
}

void ModelRunner::CancelQueued(const QueuedCallPtr& queued) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (!feeder_->Erase(*queued)) return;
    // Perhaps the back end must be told that a sequence ended, or a waiting sequence has got the free slot.
    wake = config().sequence && feeder_->HasWork() && IdleInstance() >= 0;
  }
  if (wake) executor_->MakeReady(shared_from_this());
  Refuse(*queued->call, Status(Code::kCancelled, "the request was cancelled"), {}, FailReason::kCancelled);
  Forget(1);
}

int ModelRunner::IdleInstance() const {
  for (size_t i = 0; i < instances_.size(); ++i)
    if (!instances_[i].busy) return static_cast<int>(i);
  return -1;
}

ModelRunner::Job ModelRunner::TakeJobFor(int instance, Clock::time_point now,
                                         std::vector<RejectedCall>& rejected, Clock::time_point& again) {
  Job job{instance, feeder_->Take(instance, now, rejected), {}, epoch_};
  again = std::min(again, job.pick.again);
  if (!job.empty()) Start(job, now);
  return job;
}

ModelRunner::Job ModelRunner::TakeJob(Clock::time_point now, std::vector<RejectedCall>& rejected,
                                      Clock::time_point& again) {
  if (!MayTake(rejected)) return {};
  for (size_t i = 0; i < instances_.size(); ++i) {
    if (instances_[i].busy) continue;
    Job job = TakeJobFor(static_cast<int>(i), now, rejected, again);
    if (!job.empty()) return job;
    if (!config().sequence) break;  // without sequences, Take returns the same for every instance
  }
  return {};
}

void ModelRunner::Start(Job& job, Clock::time_point now) {
  Instance& instance = instances_[static_cast<size_t>(job.instance)];
  instance.busy = true;
  instance.running = job.pick.calls;
  if (keeps_order_)
    for (const QueuedCallPtr& call : job.pick.calls)
      if (call) call->order = next_order_++;
  if (ready_since_ != kNever) job.waited = std::max(Clock::duration(0), now - ready_since_);
  ready_since_ = kNever;
  if (!runs_calls_) instance.late = LateFrom(now);
  feeder_->OnStart(job.instance, job.pick, now);
}

void ModelRunner::Work(int threads) {
  std::vector<RejectedCall> rejected;
  Clock::time_point again = kNever;
  Job job;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    job = TakeJob(now, rejected, again);
    more = !job.empty() && feeder_->HasWork() && IdleInstance() >= 0;
    if (more) ready_since_ = now;
    again = std::min(again, NextTimer());
  }
  Reject(std::move(rejected));
  if (more) executor_->MakeReady(shared_from_this());
  executor_->At(again, shared_from_this());
  if (job.empty()) return;
  if (runs_calls_) return RunDecoupled(job);
  const int64_t estimate = cpu_ns_.load(std::memory_order_relaxed);
  Charge(estimate);
  ExecutionResult result = Run(job, threads, {});
  Charge(result.cpu.count() - estimate);
  SendPartial(std::move(result.partial));
  Release(job, result, nullptr);
  Answer(std::move(result.finished));
}

void ModelRunner::OnTimer() {
  std::vector<RejectedCall> rejected;
  std::vector<QueuedCallPtr> late;
  bool wake = false;
  Clock::time_point timer = kNever;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    feeder_->Expire(now, rejected);
    late = TakeLate(now);
    wake = feeder_->HasWork() && IdleInstance() >= 0;
    if (wake && ready_since_ == kNever) ready_since_ = now;
    timer = NextTimer();
  }
  Reject(std::move(rejected));
  AnswerLate(late);
  if (wake) executor_->MakeReady(shared_from_this());
  executor_->At(timer, shared_from_this());
}

ExecutionResult ModelRunner::Run(const Job& job, int threads, std::chrono::nanoseconds elapsed_as_cpu) {
  const int wanted = config().threads > 0 ? config().threads : model_->Parallel() ? threads : 1;
  const int usable = background() ? 1 : wanted;
  Instance& instance = instances_[static_cast<size_t>(job.instance)];
  return Execute(
      {config(), builder_, statistics(), *feeder_, *instance.backend, usable, elapsed_as_cpu, job.epoch},
      job.pick);
}

void ModelRunner::Learn(const Job& job, const ExecutionResult& result) {
  if (result.batch_size == 0 || background()) return;  // executions of low priority take longer
  const auto blend = [](std::atomic<int64_t>& mean, int64_t value) {
    const int64_t old = mean.load(std::memory_order_relaxed);
    mean.store(std::max<int64_t>(1, old == 0 ? value : old + (value - old) / 4), std::memory_order_relaxed);
  };
  blend(cpu_ns_, result.cpu.count());
  // The duration is limited, so that one slow execution, such as one that was preempted, does not change the
  // mean much.
  if (job.pick.calls.size() == 1)
    blend(single_ns_, std::min<int64_t>(result.duration.count(), 8 * inline_below_.count()));
}

void ModelRunner::Release(const Job& job, const ExecutionResult& result, Job* next) {
  std::vector<RejectedCall> rejected;
  Clock::time_point again = kNever;
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = Clock::now();
    Learn(job, result);
    Instance& instance = instances_[static_cast<size_t>(job.instance)];
    instance.busy = false;
    instance.running.clear();
    instance.late = kNever;
    const int learned = background() ? 0 : result.batch_size;
    feeder_->Done(job.instance, job.pick, learned, result.duration, job.waited, now);
    if (next && feeder_->size() > 0 && FitsInline(feeder_->size()))
      *next = TakeJobFor(job.instance, now, rejected, again);
    wake = feeder_->HasWork() && IdleInstance() >= 0 && again == kNever;
    if (wake) ready_since_ = now;
    again = std::min(again, NextTimer());
  }
  Reject(std::move(rejected));
  if (wake) executor_->MakeReady(shared_from_this());
  executor_->At(again, shared_from_this());
}

void ModelRunner::Refuse(Call& call, Status status, std::chrono::milliseconds retry_after,
                         FailReason reason) {
  SetTimes(call.times, call.times.queued);
  call.times.finished = Clock::now();
  statistics().AddFailure(call.times, call.request.arrived, reason);
  Response response;
  response.status = std::move(status);
  response.retry_after = retry_after;
  call.Respond(std::move(response));
}

void ModelRunner::Reject(std::vector<RejectedCall> rejected) {
  for (RejectedCall& entry : rejected)
    Refuse(*entry.call->call, std::move(entry.status), entry.retry_after, FailReason::kRejected);
  if (!rejected.empty()) Forget(rejected.size());
}

void ModelRunner::Send(FinishedCall finished) {
  Call& call = *finished.call->call;
  if (finished.call->answered.exchange(true)) return;  // Drain answered it
  call.times = finished.call->times;
  call.times.finished = Clock::now();
  const Status& status = finished.response.status;
  if (status.ok())
    statistics().AddSuccess(call.times, call.request.arrived, static_cast<int>(finished.call->items));
  else
    statistics().AddFailure(call.times, call.request.arrived, ReasonOf(status));
  call.Respond(std::move(finished.response));
}

// Called before the requests go back to the queue, so that no later response overtakes these.
void ModelRunner::SendPartial(std::vector<FinishedCall> partial) {
  for (FinishedCall& entry : partial) entry.call->call->Respond(std::move(entry.response));
}

void ModelRunner::Answer(std::vector<FinishedCall> finished) {
  const size_t count = finished.size();
  for (FinishedCall& entry : finished) {
    if (keeps_order_) {
      const uint64_t number = entry.call->order;
      order_.Put(number, std::move(entry), [this](FinishedCall first) { Send(std::move(first)); });
    } else {
      Send(std::move(entry));
    }
  }
  Forget(count);
  if (!keeps_order_) return;
  bool ended = false;
  {
    const std::lock_guard lock(mutex_);
    ended = ended_;
  }
  if (ended) SendWaiting();
}

void ModelRunner::SendWaiting() {
  for (FinishedCall& finished : order_.TakeWaiting()) Send(std::move(finished));
}

void ModelRunner::Forget(size_t calls) {
  const std::lock_guard lock(mutex_);
  accepted_ -= calls;
  if (accepted_ == 0) drained_.notify_all();
}

bool ModelRunner::Drained() const {
  const std::lock_guard lock(mutex_);
  return accepted_ == 0;
}

void ModelRunner::Drain(std::chrono::milliseconds limit, bool refuse) {
  std::vector<RejectedCall> left;
  std::vector<QueuedCallPtr> running;
  std::vector<std::shared_ptr<Call>> streams;
  {
    std::unique_lock lock(mutex_);
    draining_ |= refuse;
    const auto bounded =
        std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
    // If ended_ is set, another call of Drain had a shorter limit and answers the requests.
    if (drained_.wait_for(lock, bounded, [this] { return accepted_ == 0 || ended_; })) return;
    draining_ = ended_ = true;
    drained_.notify_all();
    for (QueuedCallPtr& call : feeder_->Clear()) left.push_back({std::move(call), NotReady(*this), {}});
    for (const Instance& instance : instances_)
      for (const QueuedCallPtr& call : instance.running)
        if (call) running.push_back(call);
    for (const auto& [key, stream] : streams_) {
      running.push_back(stream.queued);
      if (auto call = stream.call.lock()) streams.push_back(std::move(call));
    }
  }
  Reject(std::move(left));
  for (const QueuedCallPtr& queued : running) Abandon(*queued);
  if (ModelProcess* process = model_->process(); process && !running.empty()) process->End();
  // Every request before a waiting response is answered now.
  SendWaiting();
  // The answered requests no longer pass a cancellation on to their streams.
  for (const auto& call : streams) call->Cancel();
}

void ModelRunner::Abandon(QueuedCall& queued) {
  if (queued.answered.exchange(true)) return;
  Refuse(*queued.call, NotReady(*this), {}, FailReason::kOther);
  queued.call->Cancel();
}

}  // namespace tern::server
