#include "server/dialects/tfs/results.h"

#include <cstring>

#include "server/dialects/tfs/data_types.h"

namespace tern::server::tfs {
namespace {

const TensorConfig* OnlyFloats(const ModelConfig& config) {
  const TensorConfig* found = nullptr;
  for (const TensorConfig& output : config.outputs) {
    if (!IsFloat(output.dtype)) continue;
    if (found) return nullptr;
    found = &output;
  }
  return found;
}

const WireTensor* OutputOf(const Response& response, const std::string& name) {
  for (const WireTensor& output : response.outputs)
    if (output.name == name) return &output;
  return nullptr;
}

std::string ShapeText(const Dims& dims) { return StrCat("[", Join(dims, ","), "]"); }

// Returns the values as floats. Fails for a type that holds no floats.
Result<std::vector<float>> FloatsOf(const WireTensor& tensor) {
  const bool floats = tensor.dtype == DType::kF32 || tensor.dtype == DType::kF64 ||
                      tensor.dtype == DType::kF16 || tensor.dtype == DType::kBF16;
  if (!floats)
    return InvalidArgument("Expected output Tensor '", tensor.name,
                           "' of DT_FLOAT. Got: ", NumberName(NumberOfType(tensor.dtype)));
  const size_t width = BytesOf(tensor.dtype, 1);
  const size_t count = tensor.bytes.size() / width;
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    const std::byte* at = tensor.bytes.data() + i * width;
    double wide = 0;
    uint16_t half = 0;
    switch (tensor.dtype) {
      case DType::kF32:
        std::memcpy(&out[i], at, width);
        break;
      case DType::kF64:
        std::memcpy(&wide, at, width);
        out[i] = static_cast<float>(wide);
        break;
      default:
        std::memcpy(&half, at, width);
        out[i] = tensor.dtype == DType::kF16 ? HalfToFloat(half) : BFloatToFloat(half);
    }
  }
  return out;
}

Result<std::vector<std::string>> TextsOf(const WireTensor& tensor) {
  if (tensor.dtype != DType::kString)
    return InvalidArgument("Expected classes Tensor of DT_STRING. Got: ",
                           NumberName(NumberOfType(tensor.dtype)));
  std::vector<std::string> out;
  std::string_view rest(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  uint32_t length = 0;
  while (rest.size() >= sizeof length) {
    std::memcpy(&length, rest.data(), sizeof length);
    rest.remove_prefix(sizeof length);
    if (length > rest.size()) return Status(Code::kInternal, "output 'classes' is damaged");
    out.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return out;
}

// Returns the number of classes of an output [items, classes], or [items] for one class.
Result<int64_t> ClassCount(const WireTensor& tensor, int64_t items, const char* what) {
  if (tensor.dims.empty() || tensor.dims.size() > 2)
    return InvalidArgument("Expected Tensor shape: [batch_size num_classes] but got ",
                           ShapeText(tensor.dims));
  if (tensor.dims[0] != items)
    return InvalidArgument("Expected ", what, " output batch size of ", items, ". Got: ", tensor.dims[0]);
  return tensor.dims.size() == 2 ? tensor.dims[1] : 1;
}

}  // namespace

Result<ClassOutputs> FindClassOutputs(const ModelConfig& config) {
  ClassOutputs out{config.FindOutput("classes"), config.FindOutput("scores")};
  if (!out.classes && !out.scores) out.scores = OnlyFloats(config);
  if (out.classes || out.scores) return out;
  return InvalidArgument(
      "Expected classification signature outputs to contain at least one of \"classes\" or \"scores\", or to have one "
      "output of floats. Model: '",
      config.name, "'");
}

Result<const TensorConfig*> FindRegressOutput(const ModelConfig& config) {
  const TensorConfig* found = config.FindOutput("outputs");
  if (!found) found = OnlyFloats(config);
  if (found) return found;
  return InvalidArgument("No regression outputs found in SignatureDef: model '", config.name,
                         "' has no output 'outputs' and not one output of floats");
}

Result<std::vector<std::vector<ClassScore>>> MakeClasses(const ModelConfig& config, const Response& response,
                                                         int64_t items) {
  TERN_ASSIGN(const ClassOutputs wanted, FindClassOutputs(config));
  const WireTensor* classes = wanted.classes ? OutputOf(response, wanted.classes->name) : nullptr;
  const WireTensor* scores = wanted.scores ? OutputOf(response, wanted.scores->name) : nullptr;
  if ((wanted.classes && !classes) || (wanted.scores && !scores))
    return Status(Code::kInternal, StrCat("model '", config.name, "' gave no output for a classification"));
  int64_t count = -1;
  std::vector<std::string> texts;
  std::vector<float> values;
  if (classes) {
    TERN_ASSIGN(count, ClassCount(*classes, items, "classes"));
    TERN_ASSIGN(texts, TextsOf(*classes));
  }
  if (scores) {
    TERN_ASSIGN(const int64_t scored, ClassCount(*scores, items, "scores"));
    if (count >= 0 && count != scored)
      return InvalidArgument("Tensors class and score should match in dim_size(1). Got ", count, " vs. ",
                             scored);
    count = scored;
    TERN_ASSIGN(values, FloatsOf(*scores));
  }
  const auto total = static_cast<size_t>(items * count);
  if ((classes && texts.size() != total) || (scores && values.size() != total))
    return Status(Code::kInternal, "the size of a classification output does not match its shape");
  const std::vector<std::string>* labels = wanted.scores && !classes ? &wanted.scores->labels : nullptr;
  std::vector<std::vector<ClassScore>> out(static_cast<size_t>(items));
  for (size_t i = 0; i < total; ++i) {
    const size_t column = i % static_cast<size_t>(count);
    ClassScore& result = out[i / static_cast<size_t>(count)].emplace_back();
    if (classes) result.label = std::move(texts[i]);
    if (labels && column < labels->size()) result.label = (*labels)[column];
    if (scores) result.score = values[i];
  }
  return out;
}

Result<std::vector<float>> MakeRegressions(const ModelConfig& config, const Response& response,
                                           int64_t items) {
  TERN_ASSIGN(const TensorConfig* wanted, FindRegressOutput(config));
  const WireTensor* output = OutputOf(response, wanted->name);
  if (!output)
    return Status(Code::kInternal, StrCat("model '", config.name, "' gave no output '", wanted->name, "'"));
  const Dims& dims = output->dims;
  if (dims.empty() || dims.size() > 2 || (dims.size() == 2 && dims[1] != 1))
    return InvalidArgument(
        "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got ",
        ShapeText(dims));
  if (dims[0] != items)
    return InvalidArgument("Input batch size did not match output batch size: ", items, " vs. ", dims[0]);
  return FloatsOf(*output);
}

}  // namespace tern::server::tfs
