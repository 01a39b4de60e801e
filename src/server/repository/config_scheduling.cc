#include "server/repository/config_scheduling.h"

#include <cmath>
#include <limits>

#include "model_config.pb.h"
#include "server/repository/config_types.h"

namespace tern::server {
namespace {

using inference::ModelSequenceBatching;

// Limits a time to one year, so that it can be added to a time point without overflow.
std::chrono::microseconds Microseconds(uint64_t value) {
  constexpr uint64_t kYear = uint64_t{365} * 24 * 3600 * 1'000'000;
  return std::chrono::microseconds(static_cast<int64_t>(std::min(value, kYear)));
}

QueuePolicy ConvertPolicy(const inference::ModelQueuePolicy& policy) {
  QueuePolicy out;
  out.timeout_action = policy.timeout_action() == inference::ModelQueuePolicy::DELAY ? TimeoutAction::kDelay
                                                                                     : TimeoutAction::kReject;
  out.default_timeout = Microseconds(policy.default_timeout_microseconds());
  out.allow_timeout_override = policy.allow_timeout_override();
  out.max_queue_size = policy.max_queue_size();
  return out;
}

// If the only preferred size is max_batch_size, the list is redundant and becomes empty.
template <class T> std::vector<int> Preferred(const T& sizes, int max_batch_size) {
  std::vector<int> out(sizes.begin(), sizes.end());
  if (out.size() == 1 && out[0] == max_batch_size) out.clear();
  return out;
}

BatchingConfig ConvertBatching(const inference::ModelDynamicBatching& batching, int max_batch_size) {
  BatchingConfig out;
  out.preferred_batch_sizes = Preferred(batching.preferred_batch_size(), max_batch_size);
  out.max_queue_delay = Microseconds(batching.max_queue_delay_microseconds());
  out.preserve_ordering = batching.preserve_ordering();
  out.priority_levels = batching.priority_levels();
  out.default_priority = batching.default_priority_level();
  out.default_policy = ConvertPolicy(batching.default_queue_policy());
  for (const auto& [level, policy] : batching.priority_queue_policy())
    out.priority_policies[level] = ConvertPolicy(policy);
  return out;
}

ControlInput ConvertControl(const ModelSequenceBatching::ControlInput& input) {
  using Control = ModelSequenceBatching::Control;
  const Control& control = input.control(0);
  ControlInput out;
  out.name = input.name();
  switch (control.kind()) {
    case Control::CONTROL_SEQUENCE_READY:
      out.kind = ControlInput::Kind::kReady;
      break;
    case Control::CONTROL_SEQUENCE_END:
      out.kind = ControlInput::Kind::kEnd;
      break;
    case Control::CONTROL_SEQUENCE_CORRID:
      out.kind = ControlInput::Kind::kCorrelationId;
      break;
    default:
      out.kind = ControlInput::Kind::kStart;
  }
  const auto values = [&](DType dtype, const auto& list) {
    if (list.size() != 2) return;
    out.dtype = dtype;
    out.false_value = static_cast<double>(list[0]);
    out.true_value = static_cast<double>(list[1]);
  };
  values(DType::kI32, control.int32_false_true());
  values(DType::kF32, control.fp32_false_true());
  values(DType::kBool, control.bool_false_true());
  if (out.kind == ControlInput::Kind::kCorrelationId) out.dtype = TypeFromConfig(control.data_type());
  return out;
}

Result<StateConfig> ConvertState(const ModelSequenceBatching::State& state, const std::string& folder) {
  StateConfig out;
  out.input = state.input_name();
  out.output = state.output_name();
  out.dtype = TypeFromConfig(state.data_type());
  out.dims.assign(state.dims().begin(), state.dims().end());
  if (state.initial_state().empty() || state.initial_state(0).data_file().empty() || folder.empty())
    return out;
  out.zero_initial = false;
  TERN_ASSIGN(out.initial_file, FileInside(folder, "initial_state/" + state.initial_state(0).data_file()));
  return out;
}

Result<SequenceConfig> ConvertSequence(const ConfigMessage& message, const std::string& folder) {
  const auto& sequence = message.sequence_batching();
  SequenceConfig out;
  out.strategy = sequence.has_oldest() ? SequenceStrategy::kOldest : SequenceStrategy::kDirect;
  out.max_idle = Microseconds(sequence.max_sequence_idle_microseconds());
  out.max_queue_delay =
      Microseconds(sequence.has_oldest() ? sequence.oldest().max_queue_delay_microseconds()
                                         : sequence.direct().max_queue_delay_microseconds());
  out.min_slots = static_cast<int>(
      std::ceil(sequence.direct().minimum_slot_utilization() * static_cast<float>(message.max_batch_size())));
  out.max_candidates = sequence.oldest().max_candidate_sequences();
  out.preserve_ordering = sequence.oldest().preserve_ordering();
  out.preferred_batch_sizes = Preferred(sequence.oldest().preferred_batch_size(), message.max_batch_size());
  out.iterative = sequence.iterative_sequence();
  for (const auto& input : sequence.control_input()) out.controls.push_back(ConvertControl(input));
  for (const auto& state : sequence.state()) {
    TERN_ASSIGN(StateConfig converted, ConvertState(state, folder));
    out.states.push_back(std::move(converted));
  }
  return out;
}

EnsembleStep ConvertStep(const inference::ModelEnsembling::Step& step) {
  EnsembleStep out;
  out.model = step.model_name();
  if (step.model_version() > 0) out.version = StrCat(step.model_version());
  for (const auto& [input, tensor] : step.input_map()) out.inputs[input] = tensor;
  for (const auto& [output, tensor] : step.output_map()) out.outputs[output] = tensor;
  return out;
}

}  // namespace

Status ConvertScheduling(const ConfigMessage& message, const std::string& folder, ModelConfig& out) {
  if (message.has_dynamic_batching())
    out.batching = ConvertBatching(message.dynamic_batching(), message.max_batch_size());
  if (message.has_sequence_batching()) {
    TERN_ASSIGN(out.sequence, ConvertSequence(message, folder));
  }
  for (const auto& step : message.ensemble_scheduling().step()) out.ensemble.push_back(ConvertStep(step));
  return {};
}

}  // namespace tern::server
