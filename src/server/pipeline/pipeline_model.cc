#include "server/pipeline/pipeline_model.h"

#include <algorithm>

#include "server/core/not_ready.h"
#include "server/pipeline/pipeline_call.h"
#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

TensorConfig OutputConfig(const pipeline::BoundOutput& output, const ModelConfig& prepared, bool frames) {
  TensorConfig out;
  out.name = output.spec.name;
  out.dtype = DType::kString;
  out.dims = {-1};
  if (const auto* top = output.spec.Find<pipeline::TopKStep>()) {
    const int64_t most = output.classes > 0 ? std::min<int64_t>(top->k, output.classes) : top->k;
    out.dims = {-1, most};
    return out;
  }
  using namespace pipeline;  // NOLINT: the names of steps
  const OutputSpec& spec = output.spec;
  if (spec.Find<ThresholdStep>() || spec.Find<BoxesStep>() || spec.Find<CtcStep>() ||
      spec.Find<DecodeTextStep>())
    return out;
  if (spec.Find<SegmentationStep>()) {
    out.dtype = DType::kI32;
    out.dims = {-1, -1, -1};
    return out;
  }
  const TensorConfig* tensor = prepared.FindOutput(output.result);
  if (!tensor) return out;
  out.dtype = tensor->dtype;
  if (frames) out.dims.push_back(-1);
  const bool batched = prepared.max_batch_size > 0;
  out.dims.insert(out.dims.end(), tensor->dims.begin() + (batched || tensor->dims.empty() ? 0 : 1),
                  tensor->dims.end());
  return out;
}

}  // namespace

ModelConfig ClientConfig(const PipelineParts& parts) {
  const pipeline::Binding& binding = parts.steps->binding();
  const ModelConfig& prepared = parts.prepared->config();
  const bool tensors = parts.tensors != nullptr;
  ModelConfig out = tensors ? parts.tensors->config() : prepared;
  const bool batched = std::exchange(out.max_batch_size, 0) > 0;
  out.batch_inputs.clear();
  out.batch_outputs.clear();
  out.tensor_inputs = std::exchange(out.inputs, {});
  out.tensor_outputs = std::exchange(out.outputs, {});
  for (auto* list : {&out.tensor_inputs, &out.tensor_outputs}) {
    if (!tensors) list->clear();
    for (TensorConfig& tensor : *list)
      if (batched) tensor.dims.insert(tensor.dims.begin(), -1);
  }
  for (const pipeline::BoundInput& input : binding.inputs) {
    TensorConfig& tensor = out.inputs.emplace_back();
    tensor.name = input.spec.name;
    tensor.dtype = DType::kString;
    tensor.dims = {-1};
  }
  for (const pipeline::BoundOutput& output : binding.outputs)
    out.outputs.push_back(OutputConfig(output, prepared, binding.frames));
  if (binding.inputs.size() == 1) out.raw_input = binding.inputs[0].spec.name;
  return out;
}

std::shared_ptr<PipelineModel> PipelineModel::Create(ModelConfig config, std::string version,
                                                     PipelineParts parts) {
  std::shared_ptr<PipelineModel> out(
      new PipelineModel(std::move(config), std::move(version), std::move(parts)));
  out->ResetStatistics();
  return out;
}

void PipelineModel::UseStatistics(const std::shared_ptr<ModelStatistics>& statistics) {
  ModelVersion::UseStatistics(statistics);
  if (parts_.tensors) parts_.tensors->ShareStatistics(*this);
  parts_.prepared->ShareStatistics(*this);
}

bool PipelineModel::IsRaw(const Request& request) const {
  return std::any_of(request.inputs.begin(), request.inputs.end(), [&](const WireTensor& input) {
    return input.dtype == DType::kString && config().FindInput(input.name);
  });
}

size_t PipelineModel::Pending() const {
  const size_t waiting = (parts_.tensors ? parts_.tensors->Pending() : 0) + parts_.prepared->Pending();
  const std::lock_guard lock(mutex_);
  return std::max(waiting, running_.size());
}

void PipelineModel::Submit(std::shared_ptr<Call> call) {
  if (parts_.tensors && !IsRaw(call->request)) return parts_.tensors->Submit(std::move(call));
  SetTimes(call->times, Clock::now());
  const auto run = std::make_shared<PipelineCall>(shared_from_this(), std::move(call));
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = draining_;
    if (!refused) running_.emplace(run.get(), run);
  }
  if (refused) return run->Fail(NotReady(*this), {}, FailReason::kRejected);
  run->Start();
}

void PipelineModel::Forget(PipelineCall* call) {
  std::shared_ptr<PipelineCall> owned;  // released without the lock
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(call);
  if (found == running_.end()) return;
  owned.swap(found->second);
  running_.erase(found);
  if (running_.empty()) drained_.notify_all();
}

bool PipelineModel::Drained() const {
  const auto drained = [](const std::shared_ptr<ModelVersion>& version) {
    const auto* removable = dynamic_cast<const Removable*>(version.get());
    return !removable || removable->Drained();
  };
  {
    const std::lock_guard lock(mutex_);
    if (!running_.empty()) return false;
  }
  return drained(parts_.tensors) && drained(parts_.prepared);
}

void PipelineModel::Drain(std::chrono::milliseconds limit, bool refuse) {
  const auto deadline =
      Clock::now() + std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
  std::vector<std::shared_ptr<PipelineCall>> left;
  {
    std::unique_lock lock(mutex_);
    draining_ |= refuse;
    if (!drained_.wait_until(lock, deadline, [this] { return running_.empty(); })) {
      draining_ = true;
      for (const auto& [key, run] : running_) left.push_back(run);
    }
  }
  for (const auto& run : left) run->Fail(NotReady(*this), {}, FailReason::kOther);
  for (const auto& version : {parts_.tensors, parts_.prepared})
    if (auto* removable = dynamic_cast<Removable*>(version.get()))
      removable->Drain(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()),
                       refuse);
}

}  // namespace tern::server
