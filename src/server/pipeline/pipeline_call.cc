#include "server/pipeline/pipeline_call.h"

#include "data/json_writer.h"
#include "server/pipeline/wire.h"
#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

// A response with at most this many bytes of outputs is handled on the thread that ran the model. Larger ones
// are handled on a worker thread, because other requests would wait for that work.
constexpr size_t kMaxBytesAtOnce = size_t{64} << 10;

Status CheckOutputs(const ModelConfig& config, const Request& request) {
  for (const RequestedOutput& output : request.outputs) {
    if (!config.FindOutput(output.name))
      return InvalidArgument("unexpected inference output '", output.name, "' for model '", config.name,
                             "': a request with pictures, sounds or texts gets the outputs of the pipeline");
    if (output.classification > 0)
      return InvalidArgument("output '", output.name,
                             "' is made by the pipeline, so it cannot be classified");
  }
  return {};
}

// {"model_name": …, "model_version": …, "outputs": {…}}
std::string ReadableJson(const ModelVersion& model, const Request& request, const pipeline::Item& item) {
  data::JsonWriter json;
  json.BeginObject();
  if (!request.id.empty()) json.Key("id").Text(request.id);
  json.Key("model_name").Text(model.config().name).Key("model_version").Text(model.version());
  WriteItem(item, json.Key("outputs"));
  return json.EndObject().Take();
}

}  // namespace

// A run of the model.
class PipelineCall::ModelCall final : public Call {
 public:
  explicit ModelCall(std::shared_ptr<PipelineCall> run) : run_(std::move(run)) {}

 private:
  void OnResponse(Response response) override {
    if (response.final) run_->OnResponse(std::move(response));
  }
  const std::shared_ptr<PipelineCall> run_;
};

// A step that waits for a worker thread. If it is dropped, because the server stops, the request fails.
class PipelineCall::QueuedStep {
 public:
  QueuedStep(std::weak_ptr<PipelineCall> run, Step step) : run_(std::move(run)), step_(step) {}
  ~QueuedStep() {
    if (const auto run = run_.lock())
      run->Fail(Unavailable("the server is stopping"), {}, FailReason::kOther);
  }
  QueuedStep(const QueuedStep&) = delete;
  QueuedStep& operator=(const QueuedStep&) = delete;
  void Run() {
    if (const auto run = Take()) run->Continue(step_);
  }
  std::shared_ptr<PipelineCall> Take() { return std::exchange(run_, {}).lock(); }

 private:
  std::weak_ptr<PipelineCall> run_;
  const Step step_;
};

bool PipelineCall::Post(Step step) {
  const auto queued = std::make_shared<QueuedStep>(weak_from_this(), step);
  if (model_->parts_.workers->Post([queued] { queued->Run(); })) return true;
  queued->Take();
  return false;
}

void PipelineCall::Start() {
  call_->OnCancel([weak = weak_from_this()] {
    if (const auto run = weak.lock())
      run->Fail(Status(Code::kCancelled, "the request was cancelled"), {}, FailReason::kCancelled);
  });
  if (!Post(&PipelineCall::Read))
    Fail(ResourceExhausted("too many pictures, sounds or texts wait to be read"), {}, FailReason::kRejected);
}

void PipelineCall::Continue(Step step) {
  const Status status = Guard([&] { return (this->*step)(); });
  if (!status.ok()) Fail(status, {}, FailReason::kOther);
}

Status PipelineCall::Read() {
  if (call_->cancelled()) return Status(Code::kCancelled, "the request was cancelled");
  const Request& request = call_->request;
  TERN_TRY(CheckOutputs(model_->config(), request));
  std::vector<pipeline::RawInput> inputs;
  for (const WireTensor& input : request.inputs) {
    if (input.dtype != DType::kString || !model_->config().FindInput(input.name))
      return InvalidArgument("unexpected inference input '", input.name, "' for model '",
                             model_->config().name, "': send either the inputs of the pipeline or tensors");
    TERN_ASSIGN(auto elements, ElementsOf(input));
    inputs.push_back({input.name, std::move(elements)});
  }
  const int64_t most = std::max(1, model_->parts_.prepared->config().max_batch_size);
  TERN_ASSIGN(pipeline::Work work,
              pipeline::Work::Start(model_->parts_.steps, inputs, most, {.cancel = &stop_}));
  work_ = std::move(work);
  return Advance();
}

Status PipelineCall::Advance() {
  TERN_ASSIGN(const pipeline::NamedTensors feeds, work_->Next());
  if (feeds.empty()) return Finish();
  const Request& from = call_->request;
  const auto call = std::make_shared<ModelCall>(shared_from_this());
  call->request.id = from.id;
  call->request.priority = from.priority;
  call->request.tenant = from.tenant;
  call->request.weight = from.weight;
  call->request.timeout = from.timeout;
  call->request.trace = from.trace;
  call->request.arrived = from.arrived;
  call->times.cache = call_->times.cache;
  for (const auto& [name, tensor] : feeds) call->request.inputs.push_back(ToWire(name, tensor));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    running_ = call;
  }
  model_->parts_.prepared->Submit(call);
  return {};
}

void PipelineCall::OnResponse(Response response) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    if (running_) call_->times = running_->times;
  }
  if (!response.status.ok()) {
    const bool cancelled = response.status.code() == Code::kCancelled;
    return Fail(response.status, response.retry_after,
                cancelled ? FailReason::kCancelled : FailReason::kBackend);
  }
  size_t bytes = 0;
  for (const WireTensor& output : response.outputs) bytes += output.bytes.size();
  answer_ = std::move(response);
  if (bytes <= kMaxBytesAtOnce || !Post(&PipelineCall::TakeResponse)) Continue(&PipelineCall::TakeResponse);
}

Status PipelineCall::TakeResponse() {
  pipeline::NamedTensors outputs;
  for (const WireTensor& output : answer_.outputs) {
    TERN_ASSIGN(Tensor tensor, FromWire(output));
    outputs.emplace_back(output.name, std::move(tensor));
  }
  answer_ = {};
  TERN_TRY(work_->Take(outputs));
  return Advance();
}

Status PipelineCall::Finish() {
  TERN_ASSIGN(const std::vector<pipeline::Item> items, work_->Finish());
  Response response;
  if (call_->request.readable) {
    response.text = ReadableJson(*model_, call_->request, items[0]);
  } else {
    for (size_t i = 0; i < items[0].size(); ++i) {
      const auto& wanted = call_->request.outputs;
      const bool asked = wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const auto& output) {
                           return output.name == items[0][i].name;
                         });
      if (!asked) continue;
      TERN_ASSIGN(WireTensor tensor, WireResult(items, i));
      response.outputs.push_back(std::move(tensor));
    }
  }
  if (!Close()) return {};
  call_->times.finished = Clock::now();
  call_->Respond(std::move(response));
  model_->Forget(this);
  return {};
}

bool PipelineCall::Close() {
  const std::lock_guard lock(mutex_);
  running_.reset();
  return !std::exchange(closed_, true);
}

void PipelineCall::Fail(Status status, std::chrono::milliseconds retry_after, FailReason reason) {
  std::shared_ptr<Call> running;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    running.swap(running_);
  }
  stop_.store(true, std::memory_order_relaxed);
  const bool counted = running != nullptr;  // the model counts the failures of its runs
  if (running) running->Cancel();
  call_->times.finished = Clock::now();
  if (!counted) model_->statistics().AddFailure(call_->times, call_->request.arrived, reason);
  Response response;
  response.status = std::move(status);
  response.retry_after = retry_after;
  call_->Respond(std::move(response));
  model_->Forget(this);
}

}  // namespace tern::server
