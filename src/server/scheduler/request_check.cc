#include "server/scheduler/request_check.h"

#include <algorithm>

#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

template <class Tensors> const std::string* FindRepeated(const Tensors& tensors) {
  for (size_t i = 1; i < tensors.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (tensors[i].name == tensors[k].name) return &tensors[i].name;
  return nullptr;
}

Status CheckOutputs(const ModelConfig& config, const Request& request) {
  for (const RequestedOutput& output : request.outputs)
    if (!config.FindOutput(output.name))
      return InvalidArgument("unexpected inference output '", output.name, "' for model '", config.name, "'");
  // All names belong to the model here, so their number is small unless a name is repeated. FindRepeated
  // compares all pairs, but stops at the first repeated name.
  if (const std::string* name = FindRepeated(request.outputs))
    return InvalidArgument("output '", *name, "' already exists in request");
  return {};
}

bool HasInput(const Request& request, const std::string& name) {
  return std::any_of(request.inputs.begin(), request.inputs.end(),
                     [&](const auto& t) { return t.name == name; });
}

std::string Quoted(const std::vector<std::string>& names) {
  return names.empty() ? "[]" : StrCat("['", Join(names, "','"), "']");
}

Status WrongInputs(const ModelConfig& config, const Request& request, size_t required) {
  std::vector<std::string> given, missing;
  for (const WireTensor& input : request.inputs) given.push_back(input.name);
  std::sort(given.begin(), given.end());
  for (const TensorConfig& input : config.inputs)
    if (!input.optional && !HasInput(request, input.name)) missing.push_back(input.name);
  const std::string range = required == config.inputs.size() ? StrCat(required, " inputs")
                                                             : StrCat("number of inputs between ", required,
                                                                      " and ", config.inputs.size());
  return InvalidArgument("expected ", range, " but got ", given.size(), " inputs for model '", config.name,
                         "'. Got input(s) ", Quoted(given), ", but missing required input(s) ",
                         Quoted(missing), ". Please provide all required input(s).");
}

// Checks that each input is known and occurs once, and that no required input is missing.
Status CheckNames(const ModelConfig& config, const Request& request) {
  const auto required = static_cast<size_t>(
      std::count_if(config.inputs.begin(), config.inputs.end(), [](const auto& t) { return !t.optional; }));
  if (request.inputs.size() > config.inputs.size()) return WrongInputs(config, request, required);
  if (const std::string* name = FindRepeated(request.inputs))
    return InvalidArgument("input '", *name, "' already exists in request");
  if (request.inputs.size() < required) return WrongInputs(config, request, required);
  for (const WireTensor& input : request.inputs)
    if (!config.FindInput(input.name))
      return InvalidArgument("unexpected inference input '", input.name, "' for model '", config.name, "'");
  for (const TensorConfig& input : config.inputs)
    if (!input.optional && !HasInput(request, input.name)) return WrongInputs(config, request, required);
  return {};
}

Result<int64_t> BatchSize(const ModelConfig& config, const Request& request) {
  if (config.max_batch_size <= 0) return int64_t{1};
  std::optional<int64_t> items;
  for (const WireTensor& input : request.inputs) {
    if (input.dims.empty())
      return InvalidArgument("input '", input.name, "' has no shape but model requires batch dimension for '",
                             config.name, "'");
    if (items && *items != input.dims[0])
      return InvalidArgument("input '", input.name, "' batch size does not match other inputs for '",
                             config.name, "': got ", input.dims[0], ", other inputs have ", *items);
    items = input.dims[0];
  }
  if (items.value_or(1) > config.max_batch_size)
    return InvalidArgument("inference request batch-size must be <= ", config.max_batch_size, " for '",
                           config.name, "', got ", *items,
                           "; max_batch_size in the model's config.pbtxt raises the limit");
  if (items.value_or(1) < 1)
    return InvalidArgument("inference request batch-size must be >= 1 for '", config.name, "', got ", *items);
  return items.value_or(1);
}

Status UnexpectedShape(const ModelConfig& config, const TensorConfig& expected, const WireTensor& input) {
  Dims dims = expected.dims;
  if (config.max_batch_size > 0) dims.insert(dims.begin(), -1);
  const char* note =
      config.max_batch_size > 0
          ? "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be "
            "prepended to each input shape. If you want to specify the full shape including the batch dim in "
            "your input dims config, try setting max_batch_size to zero. See the model configuration docs for "
            "more info on max_batch_size."
          : "";
  return InvalidArgument("unexpected shape for input '", input.name, "' for model '", config.name,
                         "'. Expected ", DimsText(dims), ", got ", DimsText(input.dims), ". ", note);
}

Status CheckShape(const ModelConfig& config, const TensorConfig& expected, const WireTensor& input) {
  const size_t batch = config.max_batch_size > 0 ? 1 : 0;
  if (input.dims.size() != expected.dims.size() + batch) return UnexpectedShape(config, expected, input);
  for (size_t i = 0; i < expected.dims.size(); ++i) {
    const int64_t dim = input.dims[i + batch];
    if (dim < 0)
      return InvalidArgument("All input dimensions should be specified for input '", input.name,
                             "' for model '", config.name, "', got ", DimsText(input.dims));
    if (expected.dims[i] >= 0 && expected.dims[i] != dim) return UnexpectedShape(config, expected, input);
  }
  return {};
}

Status CheckStrings(const ModelConfig& config, const WireTensor& input, int64_t elements) {
  const StringWalk walk = SkipStrings(input.bytes, 0, elements);
  const size_t rest = input.bytes.size() - walk.offset;
  if (walk.elements == elements && rest == 0) return {};
  if (walk.elements == elements && rest >= sizeof(uint32_t))
    return InvalidArgument("unexpected number of string elements ", elements + 1, " for inference input '",
                           input.name, "' for model '", config.name, "', expecting ", elements);
  if (rest > 0 && rest < sizeof(uint32_t))
    return InvalidArgument(
        "incomplete string length indicator for inference input '", input.name, "' for model '", config.name,
        "', expecting 4 bytes but only ", rest,
        " bytes available. Please make sure the string length indicator is in one buffer.");
  if (rest > 0)
    return InvalidArgument("incomplete string data for inference input '", input.name, "' for model '",
                           config.name, "': element ", walk.elements, " is longer than the ",
                           rest - sizeof(uint32_t), " bytes that are left");
  return InvalidArgument("expected ", elements, " string elements for inference input '", input.name,
                         "' for model '", config.name, "', got ", walk.elements);
}

Status CheckBytes(const ModelConfig& config, const WireTensor& input) {
  const auto elements = ElementCount(input.dims);
  const auto expected = FixedBytes(input.dtype, input.dims);
  if (!elements || !expected)
    return InvalidArgument("unexpected shape for input '", input.name, "' for model '", config.name,
                           "': the number of bytes of ", DimsText(input.dims), " exceeds the maximum");
  if (input.dtype == DType::kString) return CheckStrings(config, input, *elements);
  if (*expected != input.bytes.size())
    return InvalidArgument("input byte size mismatch for input '", input.name, "' for model '", config.name,
                           "'. Expected ", *expected, ", got ", input.bytes.size());
  return {};
}

Status CheckInput(const ModelConfig& config, const WireTensor& input) {
  const TensorConfig& expected = *config.FindInput(input.name);
  if (input.dtype != expected.dtype)
    return InvalidArgument("inference input '", input.name, "' data-type is '", WireName(input.dtype),
                           "', but model '", config.name, "' expects '", WireName(expected.dtype), "'");
  TERN_TRY(CheckShape(config, expected, input));
  return CheckBytes(config, input);
}

}  // namespace

Result<int64_t> CheckRequest(const ModelConfig& config, const Request& request) {
  TERN_TRY(CheckOutputs(config, request));
  TERN_TRY(CheckNames(config, request));
  TERN_ASSIGN(const int64_t items, BatchSize(config, request));
  for (const WireTensor& input : request.inputs) TERN_TRY(CheckInput(config, input));
  return items;
}

}  // namespace tern::server
