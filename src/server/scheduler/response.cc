// Makes responses from the outputs of an execution.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "server/scheduler/execution.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

template <class T> double ValueAt(const std::byte* data) {
  T value{};
  std::memcpy(&value, data, sizeof(value));
  return static_cast<double>(value);
}

double LoadValue(DType dtype, const std::byte* data) {
  switch (dtype) {
    case DType::kF32:
      return ValueAt<float>(data);
    case DType::kF64:
      return ValueAt<double>(data);
    case DType::kF16:
    case DType::kBF16: {
      uint16_t bits = 0;
      std::memcpy(&bits, data, sizeof(bits));
      return DecodeFloat(dtype, bits);
    }
    case DType::kI8:
      return ValueAt<int8_t>(data);
    case DType::kI16:
      return ValueAt<int16_t>(data);
    case DType::kI32:
      return ValueAt<int32_t>(data);
    case DType::kI64:
      return ValueAt<int64_t>(data);
    case DType::kU16:
      return ValueAt<uint16_t>(data);
    case DType::kU32:
      return ValueAt<uint32_t>(data);
    case DType::kU64:
      return ValueAt<uint64_t>(data);
    default:
      return ValueAt<uint8_t>(data);  // UINT8 and BOOL
  }
}

std::string ValueText(DType dtype, double value) {
  if (IsFloat(dtype)) return std::to_string(value);  // six digits after the point, like Triton
  return StrCat(static_cast<long long>(value));
}

void AppendString(std::string& out, const std::string& text) {
  const auto length = static_cast<uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&length), sizeof(length));
  out += text;
}

// Appends the classes of one item, the largest value first. NaN is smaller than any value.
void AppendClasses(const WireTensor& output, const TensorConfig* config, size_t begin, int64_t elements,
                   int64_t count, std::string& out) {
  const size_t width = ElementBytes(output.dtype);
  std::vector<double> values;
  for (int64_t i = 0; i < elements; ++i)
    values.push_back(LoadValue(output.dtype, output.bytes.data() + begin + static_cast<size_t>(i) * width));
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (std::isnan(values[a]) || std::isnan(values[b]))
      return !std::isnan(values[a]) && std::isnan(values[b]);
    return values[a] > values[b];
  });
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    std::string text = StrCat(ValueText(output.dtype, values[order[i]]), ":", order[i]);
    if (config && order[i] < config->labels.size()) text += StrCat(":", config->labels[order[i]]);
    AppendString(out, text);
  }
}

Result<std::vector<WireTensor>> Select(const ModelConfig& config, const Request& request,
                                       std::vector<WireTensor> outputs) {
  std::vector<WireTensor> selected;
  for (const RequestedOutput& requested : request.outputs) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const WireTensor& t) { return t.name == requested.name; });
    if (found == outputs.end())
      return Status(Code::kInternal,
                    StrCat("model '", config.name, "' did not return output '", requested.name, "'"));
    WireTensor output = std::move(*found);
    if (requested.classification > 0) {
      TERN_ASSIGN(output, Classify(config, output, requested.classification));
    }
    selected.push_back(std::move(output));
  }
  return selected;
}

}  // namespace

Result<WireTensor> Classify(const ModelConfig& config, const WireTensor& output, int count) {
  const bool batched = config.max_batch_size > 0 && !output.dims.empty();
  const int64_t items = batched ? output.dims[0] : 1;
  const auto total = ElementCount(output.dims);
  const size_t width = ElementBytes(output.dtype);
  if (!total || width == 0 || FixedBytes(output.dtype, output.dims) != output.bytes.size())
    return Unsupported("class result not available for output due to unsupported type '",
                       WireName(output.dtype), "': output '", output.name, "' has shape ",
                       DimsText(output.dims));
  const int64_t elements = items > 0 ? *total / items : 0, classes = std::min<int64_t>(count, elements);
  std::string text;
  for (int64_t i = 0; elements > 0 && i < items; ++i)
    AppendClasses(output, config.FindOutput(output.name), static_cast<size_t>(i * elements) * width, elements,
                  classes, text);
  WireTensor result{output.name, DType::kString, batched ? Dims{items, classes} : Dims{classes},
                    AllocateRaw(text.size())};
  if (!text.empty()) std::memcpy(result.bytes.data(), text.data(), text.size());
  return result;
}

Response MakeResponse(const ModelConfig& config, const Request& request, std::vector<WireTensor> outputs) {
  Response response;
  if (request.outputs.empty()) {
    response.outputs = std::move(outputs);
    return response;
  }
  auto selected = Guard([&] { return Select(config, request, std::move(outputs)); });
  if (selected.ok())
    response.outputs = std::move(*selected);
  else
    response.status = selected.TakeStatus();
  return response;
}

}  // namespace tern::server
