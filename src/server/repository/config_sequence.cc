// Checks sequence_batching.
#include <set>

#include "model_config.pb.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {

using inference::ModelSequenceBatching;
using Control = ModelSequenceBatching::Control;

bool CorrelationType(inference::DataType type) {
  return type == inference::TYPE_UINT64 || type == inference::TYPE_INT64 || type == inference::TYPE_UINT32 ||
         type == inference::TYPE_INT32 || type == inference::TYPE_STRING;
}

Status CheckValues(const Control& control) {
  const std::string& kind = Control::Kind_Name(control.kind());
  const int sizes[] = {control.int32_false_true_size(), control.fp32_false_true_size(),
                       control.bool_false_true_size()};
  int lists = 0;
  for (const int size : sizes) lists += size > 0;
  if (control.kind() == Control::CONTROL_SEQUENCE_CORRID) {
    if (lists) return InvalidArgument(kind, " must have a data_type instead of false_true values");
    if (CorrelationType(control.data_type())) return {};
    return InvalidArgument("the data_type of ", kind,
                           " must be TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 or TYPE_STRING");
  }
  if (lists != 1)
    return InvalidArgument(kind, " needs one of int32_false_true, fp32_false_true and bool_false_true, got ",
                           lists);
  for (const int size : sizes)
    if (size && size != 2) return InvalidArgument(kind, " needs 2 values, for false and true, got ", size);
  return {};
}

Status CheckControls(const ModelSequenceBatching& sequence) {
  std::set<std::string> names;
  std::set<int> kinds;
  for (const auto& input : sequence.control_input()) {
    if (input.name().empty()) return InvalidArgument("a control_input has no name");
    if (!names.insert(input.name()).second)
      return InvalidArgument("control_input '", input.name(), "' is listed twice");
    if (input.control_size() != 1)
      return InvalidArgument("control_input '", input.name(), "' needs 1 control, got ",
                             input.control_size());
    const Control& control = input.control(0);
    if (!Control::Kind_IsValid(control.kind()))
      return InvalidArgument("control_input '", input.name(), "' has the unknown kind ", int{control.kind()});
    if (!kinds.insert(control.kind()).second)
      return InvalidArgument("several control_input have kind ", Control::Kind_Name(control.kind()));
    TERN_TRY(CheckValues(control));
  }
  return {};
}

Status CheckStates(const ModelSequenceBatching& sequence) {
  std::set<std::string> inputs, outputs;
  for (const auto& state : sequence.state()) {
    if (state.input_name().empty() || state.output_name().empty())
      return InvalidArgument("a state needs input_name and output_name");
    if (!inputs.insert(state.input_name()).second || !outputs.insert(state.output_name()).second)
      return InvalidArgument("several states have the input '", state.input_name(), "' or the output '",
                             state.output_name(), "'");
    if (state.data_type() == inference::TYPE_INVALID || !inference::DataType_IsValid(state.data_type()))
      return InvalidArgument("state '", state.input_name(), "': data_type is missing");
    Dims positive;
    for (const int64_t dim : state.dims()) {
      if (dim < 1 && dim != -1) return InvalidArgument("state '", state.input_name(), "' has the dim ", dim);
      positive.push_back(dim == -1 ? 1 : dim);
    }
    if (!CheckedCount(positive, DType::kF64))
      return InvalidArgument("state '", state.input_name(), "' has too many elements");
    if (state.initial_state_size() > 1)
      return InvalidArgument("state '", state.input_name(), "' has ", state.initial_state_size(),
                             " initial states; 1 is allowed");
  }
  return {};
}

Status CheckStrategy(const ConfigMessage& message) {
  const auto& sequence = message.sequence_batching();
  const float use = sequence.direct().minimum_slot_utilization();
  if (!(use >= 0 && use <= 1)) return InvalidArgument("minimum_slot_utilization must be from 0 to 1");
  if (sequence.oldest().max_candidate_sequences() < 0)
    return InvalidArgument("max_candidate_sequences is ", sequence.oldest().max_candidate_sequences());
  for (const int size : sequence.oldest().preferred_batch_size())
    if (size <= 0 || size > message.max_batch_size())
      return InvalidArgument("sequence_batching prefers batch size ", size,
                             "; it must be from 1 to max_batch_size, ", message.max_batch_size());
  return {};
}

}  // namespace

Status CheckSequence(const ConfigMessage& message) {
  TERN_TRY(CheckControls(message.sequence_batching()));
  TERN_TRY(CheckStates(message.sequence_batching()));
  return CheckStrategy(message);
}

}  // namespace tern::server
