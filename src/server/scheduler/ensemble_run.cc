#include "server/scheduler/ensemble_run.h"

#include <algorithm>

#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

// Adds or removes a batch dim of size 1, because some models of an ensemble may have a batch dim and others
// may not. Triton does the same.
void FitRank(const ModelConfig& model, const TensorConfig* expected, WireTensor& tensor) {
  if (!expected) return;
  const size_t rank = expected->dims.size();
  if (model.max_batch_size > 0 && tensor.dims.size() == rank)
    tensor.dims.insert(tensor.dims.begin(), 1);
  else if (model.max_batch_size <= 0 && tensor.dims.size() == rank + 1 && tensor.dims[0] == 1)
    tensor.dims.erase(tensor.dims.begin());
}

}  // namespace

class EnsembleRun::StepCall final : public Call {
 public:
  StepCall(std::shared_ptr<EnsembleRun> run, size_t index) : run_(std::move(run)), index_(index) {}

 private:
  void OnResponse(Response response) override {
    const bool last = response.final;
    // The final response of a decoupled step may have no outputs. The outputs of the last response that has
    // any are used.
    if (!response.outputs.empty()) outputs_ = std::move(response.outputs);
    if (!last) return;
    response.outputs = std::move(outputs_);
    run_->OnResponse(index_, std::move(response));
  }

  const std::shared_ptr<EnsembleRun> run_;
  const size_t index_;
  std::vector<WireTensor> outputs_;
};

EnsembleRun::EnsembleRun(std::shared_ptr<EnsembleModel> model, std::shared_ptr<Call> call, int64_t items)
    : model_(std::move(model)), call_(std::move(call)), items_(items) {}

void EnsembleRun::Start() {
  {
    // The model has already registered this run, so Drain may have ended it.
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    steps_.resize(model_->config().ensemble.size());
    for (const WireTensor& input : call_->request.inputs) tensors_.emplace(input.name, input);
    CallTimes& times = call_->times;
    times.started = times.input = times.compute = times.output = Clock::now();
  }
  call_->OnCancel([weak = weak_from_this()] {
    if (const auto run = weak.lock())
      run->Fail(Status(Code::kCancelled, "the request was cancelled"), {}, FailReason::kCancelled);
  });
  Advance();
}

bool EnsembleRun::Ready(const EnsembleStep& step) const {
  return std::all_of(step.inputs.begin(), step.inputs.end(), [&](const auto& input) {
    // An input of the ensemble that is not in tensors_ is optional and missing in the request. The step runs
    // without it.
    return tensors_.contains(input.second) || model_->config().FindInput(input.second) != nullptr;
  });
}

std::shared_ptr<Call> EnsembleRun::MakeCall(size_t index) {
  const EnsembleStep& step = model_->config().ensemble[index];
  auto call = std::make_shared<StepCall>(shared_from_this(), index);
  Request& request = call->request;
  request.id = call_->request.id;
  request.parameters = call_->request.parameters;
  request.priority = call_->request.priority;
  request.tenant = call_->request.tenant;
  request.weight = call_->request.weight;
  request.timeout = call_->request.timeout;
  request.sequence = call_->request.sequence;
  request.trace = call_->request.trace;
  request.copy = call_->request.copy;
  request.arrived = Clock::now();
  for (const auto& [name, tensor] : step.inputs) {
    const auto found = tensors_.find(tensor);
    if (found == tensors_.end()) continue;
    request.inputs.push_back(found->second);
    request.inputs.back().name = name;
  }
  for (const auto& [name, tensor] : step.outputs) {
    request.outputs.emplace_back();
    request.outputs.back().name = name;
  }
  return call;
}

void EnsembleRun::Advance() {
  std::vector<size_t> started;
  bool finish = false, stuck = false;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    finish = done_ == steps_.size();
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].state != State::kWaiting || !Ready(model_->config().ensemble[i])) continue;
      steps_[i].state = State::kStarted;
      steps_[i].call = MakeCall(i);
      started.push_back(i);
    }
    stuck = !finish && std::none_of(steps_.begin(), steps_.end(),
                                    [](const Step& step) { return step.state == State::kStarted; });
  }
  if (finish) return Finish();
  // A decoupled step may end without any outputs.
  if (stuck)
    return Fail(Status(Code::kInternal, StrCat("ensemble '", model_->config().name,
                                               "': a step gave no outputs, so others cannot run")),
                {}, FailReason::kBackend);
  for (const size_t index : started) {
    std::shared_ptr<Call> call;
    {
      const std::lock_guard lock(mutex_);
      call = steps_[index].call;
    }
    if (call) Submit(index, call);
  }
}

void EnsembleRun::Submit(size_t index, const std::shared_ptr<Call>& call) {
  const EnsembleStep& step = model_->config().ensemble[index];
  auto version = model_->models_.Find(step.model, step.version);
  if (!version.ok()) return Fail(version.TakeStatus(), {}, FailReason::kOther);
  const ModelConfig& config = (*version)->config();
  for (WireTensor& input : call->request.inputs) FitRank(config, config.FindInput(input.name), input);
  {
    const std::lock_guard lock(mutex_);
    steps_[index].version = *version;
  }
  (*version)->Submit(call);
}

void EnsembleRun::OnResponse(size_t index, Response response) {
  std::shared_ptr<Call> ended;  // destroyed after the lock is released
  if (!response.status.ok()) {
    const bool cancelled = response.status.code() == Code::kCancelled;
    return Fail(std::move(response.status), response.retry_after,
                cancelled ? FailReason::kCancelled : FailReason::kBackend);
  }
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    const EnsembleStep& step = model_->config().ensemble[index];
    for (WireTensor& output : response.outputs) {
      const auto found = step.outputs.find(output.name);
      if (found == step.outputs.end()) continue;
      output.name = found->second;
      tensors_.insert_or_assign(found->second, std::move(output));
    }
    steps_[index].state = State::kDone;
    ended.swap(steps_[index].call);
    ++done_;
  }
  Advance();
}

bool EnsembleRun::Close() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(closed_, true);
}

void EnsembleRun::Fail(Status status, std::chrono::milliseconds retry_after, FailReason reason) {
  if (!Close()) return;
  std::vector<std::shared_ptr<Call>> running;
  {
    const std::lock_guard lock(mutex_);
    for (Step& step : steps_)
      if (step.call) running.push_back(std::move(step.call));
    tensors_.clear();
  }
  for (const auto& step : running) step->Cancel();
  call_->times.finished = Clock::now();
  call_->times.output = call_->times.finished;
  model_->statistics().AddFailure(call_->times, call_->request.arrived, reason);
  Response response;
  response.status = std::move(status);
  response.retry_after = retry_after;
  call_->Respond(std::move(response));
  model_->Forget(this);
}

void EnsembleRun::Finish() {
  if (!Close()) return;
  const ModelConfig& config = model_->config();
  CallTimes& times = call_->times;
  times.output = Clock::now();
  std::vector<WireTensor> outputs;
  for (const TensorConfig& output : config.outputs) {
    const auto found = tensors_.find(output.name);
    if (found == tensors_.end()) continue;
    FitRank(config, &output, found->second);
    outputs.push_back(std::move(found->second));
  }
  if (config.response_cache)
    for (const Step& step : steps_) call_->step_identities.push_back(step.version->identity());
  Response response = MakeResponse(config, call_->request, std::move(outputs));
  times.finished = Clock::now();
  // The processor time is 0 here, because it is counted for the models of the steps.
  model_->statistics().AddExecution(static_cast<int>(items_), times.compute - times.input,
                                    times.output - times.compute, times.finished - times.output, {});
  if (response.status.ok())
    model_->statistics().AddSuccess(times, call_->request.arrived, static_cast<int>(items_));
  else
    model_->statistics().AddFailure(times, call_->request.arrived, FailReason::kBackend);
  call_->Respond(std::move(response));
  model_->Forget(this);
}

}  // namespace tern::server
