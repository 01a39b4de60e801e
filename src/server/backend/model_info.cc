#include "server/backend/model_info.h"

#include <algorithm>

namespace tern::server {
namespace {

const Dims& BackendDims(const TensorConfig& tensor) { return tensor.reshape ? *tensor.reshape : tensor.dims; }

std::vector<TernTensorInfo> Infos(const std::vector<TensorConfig>& tensors) {
  std::vector<TernTensorInfo> out;
  for (const TensorConfig& tensor : tensors) {
    const Dims& dims = BackendDims(tensor);
    out.push_back({tensor.name.c_str(), AbiType(tensor.dtype), static_cast<int32_t>(dims.size()), dims.data(),
                   tensor.optional});
  }
  return out;
}

// A dim of any size (-1) in the model may have a fixed size in the configuration. The reverse is wrong.
bool Fits(const Dims& configured, const Dims& model) {
  if (configured.size() != model.size()) return false;
  for (size_t i = 0; i < model.size(); ++i)
    if (model[i] != -1 && model[i] != configured[i]) return false;
  return true;
}

std::string DimsText(const Dims& dims) { return StrCat("[", Join(dims, ","), "]"); }

// Returns whether the tensor is an input that the scheduler supplies, or an output that the scheduler uses.
bool OfScheduler(const ModelConfig& config, const std::string& name) {
  if (config.sequence) {
    for (const ControlInput& control : config.sequence->controls)
      if (control.name == name) return true;
    for (const StateConfig& state : config.sequence->states)
      if (state.input == name || state.output == name) return true;
  }
  for (const BatchInput& input : config.batch_inputs)
    if (std::find(input.targets.begin(), input.targets.end(), name) != input.targets.end()) return true;
  return false;
}

// Clients cannot send scalars, so they send a tensor with dims [1].
void SetScalar(TensorConfig& tensor) {
  tensor.dims = {1};
  tensor.reshape = Dims();
}

// The items of a ragged tensor are joined into one, so that the model's tensor has no batch dim.
bool IsRagged(const ModelConfig& config, const TensorConfig& tensor) {
  const auto scatters = [&](const BatchOutput& output) {
    return std::find(output.targets.begin(), output.targets.end(), tensor.name) != output.targets.end();
  };
  return tensor.ragged || std::any_of(config.batch_outputs.begin(), config.batch_outputs.end(), scatters);
}

Status Compare(const TernDescription::Tensor& model, const char* role, bool ragged,
               TensorConfig& configured) {
  if (configured.dtype == DType::kInvalid) configured.dtype = model.dtype;
  if (configured.dims.empty() && !configured.reshape) {
    configured.dims = model.dims;
    if (model.dims.empty()) SetScalar(configured);
  }
  if (configured.dtype != model.dtype)
    return InvalidArgument(role, " '", model.name, "' has type ", WireName(model.dtype),
                           " in the model, but ", WireName(configured.dtype), " in its configuration");
  if (ragged || Fits(BackendDims(configured), model.dims)) return {};
  const auto one = [](int64_t dim) { return dim == 1; };
  if (model.dims.empty() && !configured.reshape &&
      std::all_of(configured.dims.begin(), configured.dims.end(), one)) {
    configured.reshape = Dims();
    return {};
  }
  return InvalidArgument(role, " '", model.name, "' has dims ", DimsText(model.dims), " in the model, but ",
                         DimsText(BackendDims(configured)), " in its configuration");
}

TensorConfig NewTensor(const TernDescription::Tensor& model) {
  TensorConfig out;
  out.name = model.name;
  out.dtype = model.dtype;
  out.dims = model.dims;
  out.optional = model.optional;
  if (out.dims.empty()) SetScalar(out);
  return out;
}

Status Merge(const std::vector<TernDescription::Tensor>& model, const ModelConfig& config, const char* role,
             bool all, std::vector<TensorConfig>& configured) {
  const bool open = configured.empty();
  if (model.empty()) return {};
  for (const TernDescription::Tensor& tensor : model) {
    const auto same = [&](const TensorConfig& c) { return c.name == tensor.name; };
    const auto it = std::find_if(configured.begin(), configured.end(), same);
    if (it != configured.end())
      TERN_TRY(Compare(tensor, role, IsRagged(config, *it), *it));
    else if (OfScheduler(config, tensor.name))
      continue;
    else if (open)
      configured.push_back(NewTensor(tensor));
    else if (all && !tensor.optional)
      return InvalidArgument("the model has the ", role, " '", tensor.name, "', its configuration does not");
  }
  for (const TensorConfig& tensor : configured) {
    const auto same = [&](const TernDescription::Tensor& m) { return m.name == tensor.name; };
    if (std::none_of(model.begin(), model.end(), same))
      return InvalidArgument("the configuration has the ", role, " '", tensor.name, "', the model does not");
  }
  return {};
}

}  // namespace

ModelInfo::ModelInfo(const ModelFiles& files, const ModelConfig& config)
    : inputs_(Infos(config.inputs)), outputs_(Infos(config.outputs)) {
  for (const auto& [key, value] : config.parameters) parameters_.push_back({key.c_str(), value.c_str()});
  info_.size = sizeof info_;
  info_.name = config.name.c_str();
  info_.folder = files.folder.c_str();
  info_.file = files.file.c_str();
  info_.config = config.json.c_str();
  info_.max_batch_size = config.max_batch_size;
  info_.inputs = inputs_.data();
  info_.outputs = outputs_.data();
  info_.parameters = parameters_.data();
  info_.input_count = inputs_.size();
  info_.output_count = outputs_.size();
  info_.parameter_count = parameters_.size();
}

Status MergeDescription(const TernDescription& description, ModelConfig& config) {
  TERN_TRY(description.status);
  TERN_TRY(Merge(description.inputs, config, "input", true, config.inputs));
  TERN_TRY(Merge(description.outputs, config, "output", false, config.outputs));
  if (description.max_batch_size >= 0) {
    config.max_batch_size = description.max_batch_size;
    if (description.dynamic_batching && !config.sequence && !config.batching) config.batching.emplace();
  }
  config.decoupled |= description.decoupled;
  return {};
}

}  // namespace tern::server
