// Fills in the defaults that Triton uses for missing fields of a configuration.
#include "model_config.pb.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

constexpr uint64_t kIdleMicroseconds = 1'000'000;

// Returns the default number of instances. Models with the back end "tern" or "onnxruntime" have two, so that
// two cores can work. Other models have one.
int DefaultInstances(const ConfigMessage& message) {
  return message.backend() == "onnxruntime" || message.backend() == "tern" ? 2 : 1;
}

void SetInstances(ConfigMessage& message) {
  if (message.instance_group().empty()) message.add_instance_group()->set_name(message.name());
  int index = 0;
  for (auto& group : *message.mutable_instance_group()) {
    if (group.name().empty()) group.set_name(StrCat(message.name(), "_", index));
    if (group.kind() == inference::ModelInstanceGroup::KIND_AUTO)
      group.set_kind(inference::ModelInstanceGroup::KIND_CPU);
    if (group.count() == 0) group.set_count(DefaultInstances(message));
    ++index;
  }
}

void SetBatching(ConfigMessage& message) {
  const int max = message.max_batch_size();
  if (message.has_dynamic_batching() && max > 0 && message.dynamic_batching().preferred_batch_size().empty())
    message.mutable_dynamic_batching()->add_preferred_batch_size(max);
  if (!message.has_sequence_batching()) return;
  auto& sequence = *message.mutable_sequence_batching();
  if (sequence.max_sequence_idle_microseconds() == 0 && !sequence.iterative_sequence())
    sequence.set_max_sequence_idle_microseconds(kIdleMicroseconds);
  if (sequence.has_oldest() && max > 0 && sequence.oldest().preferred_batch_size().empty())
    sequence.mutable_oldest()->add_preferred_batch_size(max);
}

}  // namespace

void SetDefaults(ConfigMessage& message) {
  if (message.version_policy().policy_choice_case() == inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET)
    message.mutable_version_policy()->mutable_latest()->set_num_versions(1);
  SetBatching(message);
  if (message.has_ensemble_scheduling()) return;
  auto& optimization = *message.mutable_optimization();
  if (!optimization.has_input_pinned_memory()) optimization.mutable_input_pinned_memory()->set_enable(true);
  if (!optimization.has_output_pinned_memory()) optimization.mutable_output_pinned_memory()->set_enable(true);
  SetInstances(message);
}

}  // namespace tern::server
