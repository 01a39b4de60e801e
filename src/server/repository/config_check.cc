// Checks a configuration without its model.
#include <set>

#include "model_config.pb.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

constexpr int kMaxInstances = 1024;
constexpr int kMaxBatch = 1 << 24;

using inference::ModelInstanceGroup;
using inference::ModelQueuePolicy;

Status CheckPreferred(const google::protobuf::RepeatedField<int32_t>& sizes, int max, const char* scheduler) {
  for (const int size : sizes)
    if (size <= 0 || size > max)
      return InvalidArgument(scheduler, " prefers batch size ", size,
                             "; it must be from 1 to max_batch_size, ", max);
  return {};
}

Status CheckPriorities(const inference::ModelDynamicBatching& batching) {
  const uint64_t levels = batching.priority_levels();
  if (levels == 0) return {};
  if (batching.default_priority_level() == 0 || batching.default_priority_level() > levels)
    return InvalidArgument("default_priority_level is ", batching.default_priority_level(),
                           "; it must be from 1 to priority_levels, ", levels);
  for (const auto& [level, policy] : batching.priority_queue_policy())
    if (level == 0 || level > levels)
      return InvalidArgument("priority_queue_policy has level ", level,
                             "; it must be from 1 to priority_levels, ", levels);
  return {};
}

// With preserve_ordering, nothing may change the order of the queue. So there must be one priority level and
// no DELAY.
Status CheckOrdering(const inference::ModelDynamicBatching& batching) {
  if (!batching.preserve_ordering()) return {};
  if (batching.priority_levels() > 1)
    return InvalidArgument("preserve_ordering allows one priority level, got ", batching.priority_levels());
  const auto delays = [](const ModelQueuePolicy& policy) {
    return policy.default_timeout_microseconds() != 0 && policy.timeout_action() == ModelQueuePolicy::DELAY;
  };
  bool delay = delays(batching.default_queue_policy());
  for (const auto& [level, policy] : batching.priority_queue_policy()) delay |= delays(policy);
  return delay ? InvalidArgument("preserve_ordering excludes timeout_action DELAY") : Status();
}

Status CheckBatching(const ConfigMessage& message) {
  const int max = message.max_batch_size();
  if (max < 0 || max > kMaxBatch)
    return InvalidArgument("max_batch_size is ", max, "; it must be from 0 to ", kMaxBatch);
  if (!message.has_dynamic_batching()) return {};
  const auto& batching = message.dynamic_batching();
  TERN_TRY(CheckPreferred(batching.preferred_batch_size(), max, "dynamic_batching"));
  TERN_TRY(CheckPriorities(batching));
  return CheckOrdering(batching);
}

Status CheckGroup(const ModelInstanceGroup& group) {
  const auto wrong = [&](const auto&... text) {
    return InvalidArgument("instance_group '", group.name(), "' ", text...);
  };
  if (group.kind() == ModelInstanceGroup::KIND_GPU)
    return wrong("has kind KIND_GPU, but this server does not support GPUs");
  if (!ModelInstanceGroup::Kind_IsValid(group.kind()))
    return wrong("has the unknown kind ", int{group.kind()});
  if (!group.gpus().empty()) return wrong("names GPUs, but its kind is not KIND_GPU");
  if (!group.profile().empty()) return wrong("has profiles, which only TensorRT models have");
  if (group.count() < 1 || group.count() > kMaxInstances)
    return wrong("has count ", group.count(), "; it must be from 1 to ", kMaxInstances);
  return {};
}

Status CheckInstances(const ConfigMessage& message) {
  if (message.has_ensemble_scheduling())
    return message.instance_group().empty()
               ? Status()
               : InvalidArgument("an ensemble must not have an instance_group, because its steps have them");
  int64_t active = 0;
  for (const auto& group : message.instance_group()) {
    TERN_TRY(CheckGroup(group));
    if (!group.passive()) active += group.count();
  }
  if (active == 0) return InvalidArgument("all groups of instance_group are passive");
  if (active > kMaxInstances)
    return InvalidArgument("instance_group has ", active, " instances, at most ", kMaxInstances,
                           " are allowed");
  return {};
}

Status CheckVersions(const ConfigMessage& message) {
  const auto& policy = message.version_policy();
  if (policy.has_latest() && policy.latest().num_versions() == 0)
    return InvalidArgument("version_policy latest has num_versions 0; it must be 1 or more");
  if (policy.has_specific() && policy.specific().versions().empty())
    return InvalidArgument("version_policy specific names no versions");
  for (const int64_t version : policy.specific().versions())
    if (version <= 0)
      return InvalidArgument("version_policy names version ", version, "; it must be 1 or more");
  return {};
}

Status CheckBatchTensors(const ConfigMessage& message) {
  std::set<std::string> inputs, outputs;
  for (const auto& input : message.input()) inputs.insert(input.name());
  for (const auto& output : message.output()) outputs.insert(output.name());
  const auto sources = [&](const auto& tensor) -> Status {
    if (tensor.source_input_size() != 1)
      return InvalidArgument("batch_input and batch_output need 1 source_input, got ",
                             tensor.source_input_size());
    if (inputs.count(tensor.source_input(0))) return {};
    return InvalidArgument("the source_input '", tensor.source_input(0), "' is no input of the model");
  };
  for (const auto& tensor : message.batch_input()) {
    if (!inference::BatchInput::Kind_IsValid(tensor.kind()))
      return InvalidArgument("batch_input has the unknown kind ", int{tensor.kind()});
    if (tensor.target_name().empty()) return InvalidArgument("batch_input needs a target_name");
    TERN_TRY(sources(tensor));
    if (tensor.data_type() != inference::TYPE_INT32 && tensor.data_type() != inference::TYPE_FP32)
      return InvalidArgument("the data_type of batch_input must be TYPE_INT32 or TYPE_FP32");
  }
  std::set<std::string> seen;
  for (const auto& tensor : message.batch_output()) {
    TERN_TRY(sources(tensor));
    for (const auto& name : tensor.target_name()) {
      if (!outputs.count(name))
        return InvalidArgument("the target_name '", name, "' of batch_output is no output of the model");
      if (!seen.insert(name).second)
        return InvalidArgument("output '", name, "' is the target of several batch_output");
    }
  }
  return {};
}

Status CheckScheduling(const ConfigMessage& message) {
  const bool ensemble = message.platform() == "ensemble";
  if (ensemble != message.has_ensemble_scheduling())
    return ensemble ? InvalidArgument("platform 'ensemble' needs ensemble_scheduling")
                    : InvalidArgument("ensemble_scheduling needs platform 'ensemble', got '",
                                      message.platform(), "'");
  if (ensemble && !message.backend().empty())
    return InvalidArgument("an ensemble has no backend, got '", message.backend(), "'");
  if (message.response_cache().enable() && message.model_transaction_policy().decoupled())
    return InvalidArgument("response_cache excludes decoupled responses, because a request has several");
  if (message.response_cache().enable() && message.has_sequence_batching())
    return InvalidArgument(
        "response_cache excludes sequence_batching, because a response depends on earlier requests");
  return {};
}

// The metrics have these labels themselves.
constexpr const char* kOwnLabels[] = {"model", "version", "reason", "phase", "stage", "name", "le"};

// Tags become labels of Prometheus metrics.
Status CheckMetricTags(const ConfigMessage& message) {
  for (const auto& [name, value] : message.metric_tags()) {
    for (const char* own : kOwnLabels)
      if (name == own)
        return InvalidArgument("metric_tags has the name '", name,
                               "', which is a label of the server's own metrics; choose another name");
    bool valid = !name.empty() && !name.starts_with("__") && !(name[0] >= '0' && name[0] <= '9');
    for (const char c : name) valid &= std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (!valid)
      return InvalidArgument(
          "metric_tags has the name '", name,
          "', which is no label of Prometheus: letters, digits and '_', not a digit first, "
          "not '__' first");
  }
  return {};
}

Status CheckAll(const ConfigMessage& message, bool complete) {
  TERN_TRY(CheckVersions(message));
  TERN_TRY(CheckBatching(message));
  TERN_TRY(CheckScheduling(message));
  TERN_TRY(CheckInstances(message));
  TERN_TRY(CheckTensors(message, complete));
  TERN_TRY(CheckBatchTensors(message));
  TERN_TRY(CheckMetricTags(message));
  if (message.has_sequence_batching()) TERN_TRY(CheckSequence(message));
  if (message.has_ensemble_scheduling()) TERN_TRY(CheckEnsemble(message));
  return {};
}

}  // namespace

Status CheckConfig(const ConfigMessage& message, bool complete) {
  TERN_TRY(CheckModelName(message.name()));
  const Status status = CheckAll(message, complete);
  if (status.ok()) return status;
  return Status(status.code(), StrCat("model '", message.name(), "': ", status.message()));
}

}  // namespace tern::server
