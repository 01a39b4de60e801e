#include "server/scheduler/ensemble.h"

#include <algorithm>
#include <set>

#include "server/core/not_ready.h"
#include "server/scheduler/ensemble_run.h"
#include "server/scheduler/execution.h"
#include "server/scheduler/request_check.h"

namespace tern::server {
namespace {

Status CheckSources(const ModelConfig& config, std::set<std::string>& known) {
  std::set<std::string> made;
  for (const TensorConfig& input : config.inputs) made.insert(input.name);
  known = made;
  for (const EnsembleStep& step : config.ensemble)
    for (const auto& [output, tensor] : step.outputs)
      if (!made.insert(tensor).second)
        return InvalidArgument("ensemble '", config.name, "': tensor '", tensor, "' has two sources");
  for (const TensorConfig& output : config.outputs)
    if (!made.contains(output.name))
      return InvalidArgument("ensemble '", config.name, "': no step gives output '", output.name, "'");
  return {};
}

// Simulates a run with the names of tensors. A step that cannot run has an input without a source, is in a
// cycle, or needs the outputs of such a step.
Status CheckGraph(const ModelConfig& config) {
  if (config.ensemble.empty()) return InvalidArgument("ensemble '", config.name, "' has no steps");
  std::set<std::string> known;
  TERN_TRY(CheckSources(config, known));
  std::vector<const EnsembleStep*> left;
  for (const EnsembleStep& step : config.ensemble) left.push_back(&step);
  while (!left.empty()) {
    const auto runs = [&](const EnsembleStep* step) {
      return std::all_of(step->inputs.begin(), step->inputs.end(),
                         [&](const auto& input) { return known.contains(input.second); });
    };
    const auto next = std::find_if(left.begin(), left.end(), runs);
    if (next == left.end())
      return InvalidArgument("ensemble '", config.name, "': step '", left[0]->model,
                             "' needs a tensor that no earlier step gives");
    for (const auto& [output, tensor] : (*next)->outputs) known.insert(tensor);
    left.erase(next);
  }
  return {};
}

// An output without labels gets the labels of the step that writes it.
void InheritLabels(const Registry& models, ModelConfig& config) {
  for (const EnsembleStep& step : config.ensemble) {
    const auto model = models.Find(step.model, step.version);
    if (!model.ok()) continue;
    for (const auto& [name, tensor] : step.outputs) {
      const TensorConfig* source = (*model)->config().FindOutput(name);
      for (TensorConfig& output : config.outputs)
        if (source && output.name == tensor && output.labels.empty()) output.labels = source->labels;
    }
  }
}

}  // namespace

Result<std::shared_ptr<EnsembleModel>> EnsembleModel::Create(ModelConfig config, std::string version,
                                                             const Registry& models) {
  TERN_TRY(CheckGraph(config));
  InheritLabels(models, config);
  return std::shared_ptr<EnsembleModel>(new EnsembleModel(std::move(config), std::move(version), models));
}

void EnsembleModel::Submit(std::shared_ptr<Call> call) {
  SetTimes(call->times, Clock::now());
  auto items = CheckRequest(config(), call->request);
  auto run = std::make_shared<EnsembleRun>(shared_from_this(), call, items.ok() ? *items : 1);
  bool refused = false;
  {
    const std::lock_guard lock(mutex_);
    refused = draining_;
    if (!refused) runs_.emplace(run.get(), run);
  }
  if (refused) return run->Fail(NotReady(*this), {}, FailReason::kRejected);
  if (!items.ok()) return run->Fail(items.TakeStatus(), {}, FailReason::kOther);
  run->Start();
}

void EnsembleModel::Forget(EnsembleRun* run) {
  const std::lock_guard lock(mutex_);
  runs_.erase(run);
  if (runs_.empty()) drained_.notify_all();
}

bool EnsembleModel::Drained() const {
  const std::lock_guard lock(mutex_);
  return runs_.empty();
}

void EnsembleModel::Drain(std::chrono::milliseconds limit, bool refuse) {
  std::vector<std::shared_ptr<EnsembleRun>> left;
  {
    std::unique_lock lock(mutex_);
    draining_ |= refuse;
    const auto bounded =
        std::clamp(limit, std::chrono::milliseconds(0), std::chrono::milliseconds(86'400'000));
    if (drained_.wait_for(lock, bounded, [this] { return runs_.empty(); })) return;
    draining_ = true;
    for (const auto& [key, weak] : runs_)
      if (auto run = weak.lock()) left.push_back(std::move(run));
  }
  for (const auto& run : left) run->Fail(NotReady(*this), {}, FailReason::kOther);
}

}  // namespace tern::server
