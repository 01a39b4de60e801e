// Checks an ensemble against the models that it runs.
#include <algorithm>
#include <set>

#include "server/repository/loader.h"

namespace tern::server {
namespace {

// The type of each tensor of the ensemble, as far as the checked steps determine it.
using Types = std::map<std::string, DType>;

Status CheckType(const std::string& tensor, DType dtype, const std::string& model, Types& types) {
  const auto [it, added] = types.emplace(tensor, dtype);
  if (added || it->second == dtype) return {};
  return InvalidArgument("ensemble tensor '", tensor, "' has type ", WireName(it->second), ", but model '",
                         model, "' has ", WireName(dtype));
}

const TensorConfig* Find(const std::vector<TensorConfig>& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const TensorConfig& tensor) { return tensor.name == name; });
  return found == list.end() ? nullptr : &*found;
}

// Returns whether `list` has a tensor of each name that the step maps, with the type of the ensemble's tensor
// if that is in `types`.
bool Contains(const std::vector<TensorConfig>& list, const std::map<std::string, std::string>& names,
              const Types& types) {
  return std::all_of(names.begin(), names.end(), [&](const auto& pair) {
    const TensorConfig* tensor = Find(list, pair.first);
    const auto type = types.find(pair.second);
    return tensor && (type == types.end() || type->second == tensor->dtype);
  });
}

Status CheckStep(const EnsembleStep& step, const ModelConfig& model, int max_batch_size, Types& types) {
  if (model.max_batch_size && model.max_batch_size < max_batch_size)
    return InvalidArgument("the ensemble has max_batch_size ", max_batch_size, ", but its model '",
                           model.name, "' has ", model.max_batch_size);
  // A model with a pipeline also takes the tensors of the model itself, which may have the same names.
  const bool own =
      !(Contains(model.inputs, step.inputs, types) && Contains(model.outputs, step.outputs, types)) &&
      Contains(model.tensor_inputs, step.inputs, {}) && !model.tensor_inputs.empty();
  const std::vector<TensorConfig>& inputs = own ? model.tensor_inputs : model.inputs;
  const std::vector<TensorConfig>& outputs = own ? model.tensor_outputs : model.outputs;
  for (const auto& [name, tensor] : step.inputs) {
    const TensorConfig* input = Find(inputs, name);
    if (!input)
      return InvalidArgument("ensemble tensor '", tensor, "' is mapped to input '", name, "', which model '",
                             model.name, "' does not have");
    TERN_TRY(CheckType(tensor, input->dtype, model.name, types));
  }
  for (const auto& [name, tensor] : step.outputs) {
    const TensorConfig* output = Find(outputs, name);
    if (!output)
      return InvalidArgument("ensemble tensor '", tensor, "' is mapped to output '", name, "', which model '",
                             model.name, "' does not have");
    TERN_TRY(CheckType(tensor, output->dtype, model.name, types));
  }
  for (const TensorConfig& input : inputs)
    if (!input.optional && !step.inputs.count(input.name))
      return InvalidArgument("no ensemble tensor is mapped to input '", input.name, "' of model '",
                             model.name, "'");
  return {};
}

}  // namespace

Status CheckSteps(const ModelConfig& ensemble, const Registry& models) {
  Types types;
  for (const auto* tensors : {&ensemble.inputs, &ensemble.outputs})
    for (const TensorConfig& tensor : *tensors) types[tensor.name] = tensor.dtype;
  for (const EnsembleStep& step : ensemble.ensemble) {
    const auto model = models.Find(step.model, step.version);
    if (!model.ok())
      return Unavailable("ensemble '", ensemble.name, "' depends on '", step.model,
                         "' which has no loaded version");
    TERN_TRY(CheckStep(step, (*model)->config(), ensemble.max_batch_size, types));
  }
  return {};
}

}  // namespace tern::server
