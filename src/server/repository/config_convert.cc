// Converts the message to the plain structs that the scheduler and the front ends read.
#include <limits>

#include "model_config.pb.h"
#include "runtime/model/precision.h"
#include "server/repository/config.h"
#include "server/repository/config_scheduling.h"
#include "server/repository/config_types.h"
#include "server/rollout/policy.h"

namespace tern::server {
namespace {

template <class T> Dims DimsOf(const T& list) { return Dims(list.begin(), list.end()); }
template <class T> std::vector<std::string> NamesOf(const T& list) { return {list.begin(), list.end()}; }

template <class T> TensorConfig ConvertTensor(const T& tensor) {
  TensorConfig out;
  out.name = tensor.name();
  out.dtype = TypeFromConfig(tensor.data_type());
  out.dims = DimsOf(tensor.dims());
  if (tensor.has_reshape()) out.reshape = DimsOf(tensor.reshape().shape());
  return out;
}

Status ConvertTensors(const ConfigMessage& message, const std::string& folder, ModelConfig& out) {
  for (const auto& input : message.input()) {
    out.inputs.push_back(ConvertTensor(input));
    out.inputs.back().optional = input.optional();
    out.inputs.back().ragged = input.allow_ragged_batch();
  }
  for (const auto& output : message.output()) {
    out.outputs.push_back(ConvertTensor(output));
    if (output.label_filename().empty() || folder.empty()) continue;
    TERN_ASSIGN(const std::string path, FileInside(folder, output.label_filename()));
    TERN_ASSIGN(out.outputs.back().labels, ReadLabels(path));
  }
  for (const auto& input : message.batch_input())
    out.batch_inputs.push_back({static_cast<BatchInput::Kind>(input.kind()), NamesOf(input.target_name()),
                                TypeFromConfig(input.data_type()), NamesOf(input.source_input())});
  for (const auto& output : message.batch_output())
    out.batch_outputs.push_back({NamesOf(output.target_name()), NamesOf(output.source_input())});
  return {};
}

Status ParseSizes(const std::string& text, int max_batch_size, std::vector<int>& out) {
  for (const std::string& part : SplitText(text, ',')) {
    int64_t size = 0;
    const size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    const std::string number = first == std::string::npos ? "" : part.substr(first, last - first + 1);
    if (!ParseInt(number, size) || size < 1 || size > std::max(1, max_batch_size) ||
        (!out.empty() && size <= out.back()))
      return InvalidArgument("parameter tern_allowed_batch_sizes is '", text,
                             "'; it must list ascending sizes from 1 to max_batch_size, ", max_batch_size);
    out.push_back(static_cast<int>(size));
  }
  return {};
}

// Reads the parameters and metric tags. model_config.proto describes the parameters that only Tern has.
Status ConvertParameters(const ConfigMessage& message, ModelConfig& out) {
  for (const auto& [key, value] : message.parameters()) out.parameters[key] = value.string_value();
  for (const auto& [key, value] : message.metric_tags()) out.metric_tags[key] = value;
  if (const auto it = out.parameters.find("tern_p99_ms"); it != out.parameters.end()) {
    double ms = 0;
    if (!ParseDouble(it->second, ms) || !(ms > 0 && ms <= 3.6e6))
      return InvalidArgument("parameter tern_p99_ms is '", it->second,
                             "'; it must be a number of milliseconds, at most 3600000");
    out.goal.p99 = std::chrono::microseconds(std::max<int64_t>(1, static_cast<int64_t>(ms * 1000)));
  }
  if (const auto it = out.parameters.find("execution_timeout_ms"); it != out.parameters.end()) {
    int64_t ms = 0;
    if (!ParseInt(it->second, ms) || ms < 1 || ms > 86'400'000)
      return InvalidArgument("parameter execution_timeout_ms is '", it->second,
                             "'; it must be from 1 to 86400000");
    out.execution_timeout = std::chrono::milliseconds(ms);
  }
  if (const auto it = out.parameters.find("tern_threads"); it != out.parameters.end()) {
    int64_t threads = 0;
    if (!ParseInt(it->second, threads) || threads < 0 || threads > 1024)
      return InvalidArgument("parameter tern_threads is '", it->second, "'; it must be from 0 to 1024");
    out.threads = static_cast<int>(threads);
  }
  if (const auto it = out.parameters.find("tern_allowed_batch_sizes"); it != out.parameters.end()) {
    if (!out.batching) out.batching.emplace();
    TERN_TRY(ParseSizes(it->second, out.max_batch_size, out.batching->allowed_batch_sizes));
  }
  if (const auto it = out.parameters.find("tern_precision"); it != out.parameters.end())
    if (!ParsePrecision(it->second))
      return InvalidArgument("parameter tern_precision is '", it->second, "'; it must be ", kPrecisionNames);
  if (const auto it = out.parameters.find(kRolloutParameter); it != out.parameters.end()) {
    if (const auto policy = ParsePolicy(it->second); !policy.ok())
      return InvalidArgument("parameter ", kRolloutParameter, ": ", policy.status().message());
    if (out.sequence)
      return InvalidArgument("parameter ", kRolloutParameter,
                             ": the requests of a sequence cannot be divided between two versions");
  }
  return {};
}

int InstancesOf(const ConfigMessage& message) {
  int count = 0;
  for (const auto& group : message.instance_group())
    if (!group.passive()) count += group.count();
  return std::max(1, count);
}

void SetTexts(ModelConfig& config, const ConfigMessage& message) {
  config.json = ConfigJson(message);
  config.proto = message.SerializeAsString();
}

}  // namespace

Result<ModelConfig> ConvertConfig(const ConfigMessage& message, const std::string& folder) {
  ModelConfig out;
  out.name = message.name();
  out.platform = message.platform();
  out.backend = message.backend();
  out.max_batch_size = message.max_batch_size();
  out.instances = InstancesOf(message);
  out.decoupled = message.model_transaction_policy().decoupled();
  out.response_cache = message.response_cache().enable();
  TERN_TRY(ConvertTensors(message, folder, out));
  TERN_TRY(ConvertScheduling(message, folder, out));
  TERN_TRY(ConvertParameters(message, out));
  SetTexts(out, message);
  return out;
}

void UpdateMessage(ModelConfig& config, ConfigMessage& message) {
  const ConfigMessage before = message;
  const auto update = [](const TensorConfig& tensor, auto& to) {
    to.set_name(tensor.name);
    to.set_data_type(TypeForConfig(tensor.dtype));
    to.mutable_dims()->Assign(tensor.dims.begin(), tensor.dims.end());
    if (tensor.reshape)
      to.mutable_reshape()->mutable_shape()->Assign(tensor.reshape->begin(), tensor.reshape->end());
  };
  const auto rebuild = [&](const auto& tensors, const auto& old, auto* list) {
    list->Clear();
    for (const TensorConfig& tensor : tensors) {
      auto* to = list->Add();
      for (const auto& known : old)
        if (known.name() == tensor.name) *to = known;
      update(tensor, *to);
    }
  };
  rebuild(config.inputs, before.input(), message.mutable_input());
  rebuild(config.outputs, before.output(), message.mutable_output());
  for (int i = 0; i < message.input_size(); ++i)
    message.mutable_input(i)->set_optional(config.inputs[static_cast<size_t>(i)].optional);
  message.set_max_batch_size(config.max_batch_size);
  if (config.batching && message.scheduling_choice_case() == ConfigMessage::SCHEDULING_CHOICE_NOT_SET)
    message.mutable_dynamic_batching();
  if (config.decoupled) message.mutable_model_transaction_policy()->set_decoupled(true);
  SetDefaults(message);
  SetTexts(config, message);
}

}  // namespace tern::server
