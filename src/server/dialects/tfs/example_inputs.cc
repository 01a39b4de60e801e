// Makes the inputs of a model from the features of examples.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "server/dialects/tfs/data_types.h"
#include "server/dialects/tfs/example.h"
#include "server/dialects/tfs/shapes.h"

namespace tern::server::tfs {
namespace {

void AppendText(std::string& out, std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof length);
  out.append(text);
}

Buffer Own(std::string bytes) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  return Buffer::Borrow(owner->data(), owner->size(), owner);
}

Status CheckSize(const std::string& bytes, uint64_t limit) {
  if (bytes.size() <= limit) return {};
  return InvalidArgument("the inputs made of the examples take more than the ", limit,
                         " bytes that are left to the request");
}

const Feature* FeatureOf(const Examples& examples, size_t item, std::string_view name) {
  const Feature* feature = examples.items[item].Find(name);
  return feature ? feature : examples.context.Find(name);
}

// True if the model parses serialized examples itself.
bool TakesExamples(const ModelConfig& config, const Examples& examples) {
  if (config.inputs.size() != 1 || config.inputs[0].dtype != DType::kString) return false;
  const std::string& name = config.inputs[0].name;
  if (name != "inputs" && name != "examples") return false;
  return !FeatureOf(examples, 0, name);
}

Status Wrong(const TensorConfig& input, size_t item, const std::string& what) {
  return InvalidArgument("example ", item, ": feature '", input.name, "' ", what, " (input '", input.name,
                         "' is ", TypeName(input.dtype), ")");
}

template <class T> void AppendValue(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Appends a number as an element of the input's type. Returns false if the type cannot represent it.
template <class T> bool AppendInteger(std::string& out, int64_t value) {
  if constexpr (std::is_unsigned_v<T>) {
    if (value < 0 || static_cast<uint64_t>(value) > std::numeric_limits<T>::max()) return false;
  } else if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
    return false;
  }
  AppendValue(out, static_cast<T>(value));
  return true;
}

bool AppendWhole(std::string& out, DType dtype, int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return (value == 0 || value == 1) && AppendInteger<uint8_t>(out, value);
    case DType::kU8:
      return AppendInteger<uint8_t>(out, value);
    case DType::kU16:
      return AppendInteger<uint16_t>(out, value);
    case DType::kU32:
      return AppendInteger<uint32_t>(out, value);
    case DType::kU64:
      return AppendInteger<uint64_t>(out, value);
    case DType::kI8:
      return AppendInteger<int8_t>(out, value);
    case DType::kI16:
      return AppendInteger<int16_t>(out, value);
    case DType::kI32:
      return AppendInteger<int32_t>(out, value);
    case DType::kI64:
      return AppendInteger<int64_t>(out, value);
    default:
      return false;
  }
}

bool AppendFraction(std::string& out, DType dtype, double value) {
  const auto single = static_cast<float>(value);
  switch (dtype) {
    case DType::kF32:
      AppendValue(out, single);
      return true;
    case DType::kF64:
      AppendValue(out, value);
      return true;
    case DType::kF16:
      AppendValue(out, FloatToHalf(single));
      return true;
    case DType::kBF16:
      AppendValue(out, FloatToBFloat(single));
      return true;
    default:  // an integer that the client wrote with a point, such as 2.0
      return value == std::floor(value) && std::fabs(value) < 0x1p53 &&
             AppendWhole(out, dtype, static_cast<int64_t>(value));
  }
}

Status AppendValues(const TensorConfig& input, size_t item, const Feature& feature, std::string& out) {
  if ((feature.kind == DType::kString) != (input.dtype == DType::kString))
    return Wrong(input, item, StrCat("has values of type ", TypeName(feature.kind)));
  for (const std::string& text : feature.texts) AppendText(out, text);
  for (const float value : feature.floats)
    if (!AppendFraction(out, input.dtype, value))
      return Wrong(input, item, StrCat("has the value ", value, ", which does not fit"));
  const bool fraction = IsFloat(input.dtype);
  for (const int64_t value : feature.integers)
    if (fraction ? !AppendFraction(out, input.dtype, static_cast<double>(value))
                 : !AppendWhole(out, input.dtype, value))
      return Wrong(input, item, StrCat("has the value ", value, ", which does not fit"));
  return {};
}

// Sets the open dim of one item (-1), if there is one, so that the item has `values` elements.
Status SetItemDims(const TensorConfig& input, size_t values, Dims& dims) {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& dim : dims) {
    if (dim < 0 && open)
      return InvalidArgument("input '", input.name, "' has several open dims, so that the shape of its ",
                             values, " values is not known; use predict");
    if (dim < 0)
      open = &dim;
    else
      known *= dim;
  }
  const auto count = static_cast<int64_t>(values);
  if (open && known > 0) *open = count / known;
  if (open ? known > 0 && *open * known == count : known == count) return {};
  return Wrong(input, 0, StrCat("has ", values, " values, but each item takes ", Join(input.dims, "x")));
}

Status MakeInput(const ModelConfig& config, const TensorConfig& input, const Examples& examples,
                 uint64_t limit, Request& request) {
  std::string bytes;
  const Feature* first = FeatureOf(examples, 0, input.name);
  const bool absent = !first || first->kind == DType::kInvalid;
  for (size_t i = 0; i < examples.items.size(); ++i) {
    const Feature* feature = FeatureOf(examples, i, input.name);
    const bool missing = !feature || feature->kind == DType::kInvalid;
    if (missing && absent && input.optional) continue;
    if (missing || absent)
      return InvalidArgument("Feature: ", input.name, " (data type: ", TypeName(input.dtype),
                             ") is required but could not be found in example ", missing ? i : 0);
    if (feature->size() != first->size())
      return Wrong(input, i,
                   StrCat("has ", feature->size(), " values, that of example 0 has ", first->size()));
    TERN_TRY(AppendValues(input, i, *feature, bytes));
    TERN_TRY(CheckSize(bytes, limit));
  }
  if (absent) return {};
  WireTensor tensor{input.name, input.dtype, input.dims, Own(std::move(bytes))};
  if (config.max_batch_size == 0 && !tensor.dims.empty()) tensor.dims.erase(tensor.dims.begin());
  TERN_TRY(SetItemDims(input, first->size(), tensor.dims));
  tensor.dims.insert(tensor.dims.begin(), static_cast<int64_t>(examples.items.size()));
  request.inputs.push_back(std::move(tensor));
  return {};
}

}  // namespace

Status MakeInputs(const ModelConfig& config, const Examples& examples, uint64_t limit, Request& request) {
  if (examples.items.empty()) return InvalidArgument("Input is empty");
  if (!TakesExamples(config, examples)) {
    for (const TensorConfig& input : config.inputs) {
      TERN_TRY(MakeInput(config, input, examples, limit, request));
      if (!request.inputs.empty()) limit -= std::min<uint64_t>(limit, request.inputs.back().bytes.size());
    }
    return {};
  }
  std::string bytes;
  for (const Example& item : examples.items) {
    AppendText(bytes, SerializeExample(examples.context, item));
    TERN_TRY(CheckSize(bytes, limit));
  }
  request.inputs.push_back({config.inputs[0].name,
                            DType::kString,
                            {static_cast<int64_t>(examples.items.size())},
                            Own(std::move(bytes))});
  return {};
}

}  // namespace tern::server::tfs
