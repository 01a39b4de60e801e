#include "server/http/infer_tensors.h"

#include <cstring>

#include "base/dtype.h"
#include "server/http/json_tensor.h"

namespace tern::server {
namespace {

Status Unable(const char* name) { return InvalidArgument("Unable to parse '", name, "'"); }

Status ReadUnsigned(JsonReader& json, const char* name, uint64_t& value) {
  if (json.Peek() != JsonReader::Kind::kNumber) return Unable(name);
  JsonNumber number;
  TERN_TRY(json.Number(number));
  return number.integer && ToUint64(number, value).ok() ? Status() : Unable(name);
}

Status ReadText(JsonReader& json, const char* name, std::string& value) {
  return json.Peek() == JsonReader::Kind::kString ? json.String(value) : Unable(name);
}

Status ReadFlag(JsonReader& json, const char* name, bool& value) {
  return json.Peek() == JsonReader::Kind::kBool ? json.Bool(value) : Unable(name);
}

Status ReadTensorParameter(JsonReader& json, std::string_view key, TensorParameters& p) {
  if (key == "binary_data_size") return ReadUnsigned(json, "binary_data_size", p.binary_size.emplace());
  if (key == "binary_data") return ReadFlag(json, "binary_data", p.binary.emplace());
  if (key == "shared_memory_region") return ReadText(json, "shared_memory_region", p.region.emplace());
  if (key == "shared_memory_offset") return ReadUnsigned(json, "shared_memory_offset", p.offset);
  if (key == "shared_memory_byte_size") return ReadUnsigned(json, "shared_memory_byte_size", p.bytes);
  if (key == "classification") return ReadUnsigned(json, "classification", p.classification.emplace());
  return json.Skip();
}

Status ReadTensorParameters(JsonReader& json, TensorParameters& p) {
  if (json.Peek() != JsonReader::Kind::kObject) return Unable("parameters");
  return json.Object([&](std::string_view key) { return ReadTensorParameter(json, key, p); });
}

Status ReadShape(JsonReader& json, Dims& dims) {
  if (json.Peek() != JsonReader::Kind::kArray) return Unable("shape");
  dims.clear();
  return json.Array([&]() -> Status {
    uint64_t dim = 0;
    TERN_TRY(ReadUnsigned(json, "shape", dim));
    if (dim > uint64_t{INT64_MAX}) return Unable("shape");
    // No model has so many dims, and error messages repeat all dims.
    if (dims.size() == 64) return InvalidArgument("a shape has more than 64 dimensions");
    dims.push_back(static_cast<int64_t>(dim));
    return {};
  });
}

Status ReadInputField(JsonReader& json, std::string_view key, InputFields& f) {
  if (key == "name") {
    if (std::exchange(f.has_name, true)) return Unable("name");
    return ReadText(json, "name", f.tensor.name);
  }
  if (key == "shape") {
    if (std::exchange(f.has_shape, true)) return Unable("shape");
    return ReadShape(json, f.tensor.dims);
  }
  if (key == "datatype") {
    std::string_view name;
    std::string storage;
    if (json.Peek() != JsonReader::Kind::kString || std::exchange(f.has_datatype, true))
      return Unable("datatype");
    TERN_TRY(json.String(name, storage));
    f.tensor.dtype = WireType(name);
    if (f.tensor.dtype == DType::kInvalid) f.unknown_datatype = name.substr(0, 64);
    return {};
  }
  if (key == "parameters") return ReadTensorParameters(json, f.parameters);
  if (key != "data") return json.Skip();
  if (f.data) return InvalidArgument("the input has 'data' twice");
  json.Peek();
  f.data = json.position();
  // In the usual order of keys, the type and the dims are already known. Otherwise the data is read later.
  if (f.has_name && f.has_shape && f.has_datatype && f.tensor.dtype != DType::kInvalid)
    return ReadJsonTensor(json, f.tensor);
  return json.Skip();
}

Status CheckSources(const InputFields& f) {
  const TensorParameters& p = f.parameters;
  const int count = f.data.has_value() + p.binary_size.has_value() + p.region.has_value();
  if (count == 1) return {};
  std::string text =
      "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters', "
      "'shared_memory_region' in 'parameters'. But";
  text += count ? " set" : " no field is set";
  if (f.data) text += " 'data'";
  if (p.binary_size) text += " 'binary_data_size'";
  if (p.region) text += " 'shared_memory_region'";
  return Status(Code::kInvalidArgument, std::move(text));
}

Result<std::shared_ptr<const SharedMemoryRange>> FindRegion(const InferSource& source,
                                                            const TensorParameters& p) {
  if (!source.shared_memory)
    return Unavailable("shared memory region '", *p.region,
                       "' cannot be used: shared memory of clients is off");
  return source.shared_memory->Find(*p.region, p.offset, p.bytes);
}

Status TakeBinary(const InferSource& source, uint64_t size, InputFields& f, Buffer& binary) {
  if (size > binary.size())
    return InvalidArgument("unexpected size for input '", f.tensor.name, "', expecting ",
                           size - binary.size(), " additional bytes for model '", source.config->name, "'");
  f.tensor.bytes = binary.Slice(0, static_cast<size_t>(size));
  binary = binary.Slice(static_cast<size_t>(size), binary.size() - static_cast<size_t>(size));
  return {};
}

}  // namespace

Status ReadInputFields(JsonReader& json, InputFields& fields) {
  if (json.Peek() != JsonReader::Kind::kObject) return Unable("inputs");
  TERN_TRY(json.Object([&](std::string_view key) { return ReadInputField(json, key, fields); }));
  if (!fields.has_name) return Unable("name");
  if (!fields.has_datatype) return Unable("datatype");
  if (!fields.has_shape) return Unable("shape");
  if (fields.tensor.dtype == DType::kInvalid)
    return InvalidArgument(
        "input '", fields.tensor.name, "' has the unknown datatype '", fields.unknown_datatype,
        "'; datatypes are BOOL, INT8 to INT64, UINT8 to UINT64, FP16, FP32, FP64, BF16 and BYTES");
  return {};
}

Status ReadInputData(JsonReader& json, const InferSource& source, InputFields& f, Buffer& binary) {
  TERN_TRY(CheckSources(f));
  TERN_ASSIGN(const uint64_t count, ElementCount(f.tensor.name, f.tensor.dims));
  static_cast<void>(count);
  if (f.parameters.binary_size) return TakeBinary(source, *f.parameters.binary_size, f, binary);
  if (f.parameters.region) {
    TERN_ASSIGN(f.range, FindRegion(source, f.parameters));
    return {};
  }
  if (f.tensor.bytes.defined()) return {};
  const size_t end = json.position();
  json.Seek(*f.data);
  TERN_TRY(ReadJsonTensor(json, f.tensor));
  json.Seek(end);
  return {};
}

Status ReadOutput(JsonReader& json, const InferSource& source, Request& request, InferFormat& format) {
  if (json.Peek() != JsonReader::Kind::kObject) return Unable("outputs");
  RequestedOutput output;
  TensorParameters p;
  bool has_name = false;
  TERN_TRY(json.Object([&](std::string_view key) -> Status {
    if (key == "parameters") return ReadTensorParameters(json, p);
    if (key != "name") return json.Skip();
    has_name = true;
    return ReadText(json, "name", output.name);
  }));
  if (!has_name) return Unable("name");
  for (const RequestedOutput& other : request.outputs)
    if (other.name == output.name)
      return InvalidArgument("output '", output.name, "' already exists in request");
  if (p.classification.value_or(0) > 1'000'000'000) return InvalidArgument("Unable to set 'classification'");
  output.classification = static_cast<int>(p.classification.value_or(0));
  if (p.region) {
    if (p.classification)
      return InvalidArgument("Output can't set both 'shared_memory_region' and 'classification'");
    if (p.binary.value_or(false))
      return InvalidArgument("Output can't set both 'shared_memory_region' and 'binary_data'");
    TERN_ASSIGN(auto range, FindRegion(source, p));
    format.shared.outputs.push_back({output.name, std::move(range)});
  }
  format.outputs.push_back({.binary = p.binary.value_or(false), .shared = p.region.has_value()});
  request.outputs.push_back(std::move(output));
  return {};
}

// Returns the only element of a BYTES tensor: its length and its bytes.
static Buffer ElementOf(const Buffer& body) {
  Buffer out = Buffer::Allocate(sizeof(uint32_t) + body.size());
  const auto length = static_cast<uint32_t>(body.size());
  std::memcpy(out.data(), &length, sizeof length);
  if (length) std::memcpy(out.data() + sizeof length, body.data(), body.size());
  return out;
}

size_t ReadItem(const Buffer& body, const ModelConfig& config, Request& request) {
  request.inputs.push_back({config.raw_input, DType::kString, {1}, ElementOf(body)});
  request.readable = true;
  return request.inputs.back().bytes.size();
}

Status ReadRawInput(const Buffer& body, const InferSource& source, Request& request) {
  const ModelConfig& config = *source.config;
  if (config.inputs.size() != 1)
    return InvalidArgument("Raw request must only have 1 input (found 1) to be deduced but got ",
                           config.inputs.size(), " inputs in '", config.name, "' model configuration");
  const TensorConfig& input = config.inputs[0];
  WireTensor tensor{input.name, input.dtype, input.dims, body};
  // One dim may be open (-1). The size of the body determines it. The batch dim is 1.
  uint64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& dim : tensor.dims) {
    if (dim < 0 && open)
      return InvalidArgument("The shape of the raw input '", input.name,
                             "' can not be deduced because there are more than "
                             "one variable-sized dimension");
    if (dim < 0)
      open = &dim;
    else
      known *= static_cast<uint64_t>(dim);
  }
  if (input.dtype == DType::kString) {
    if (known != 1 || open)
      return InvalidArgument("For BYTE datatype raw input '", input.name,
                             "', the model must have input shape [1]");
    tensor.bytes = ElementOf(body);
  } else if (open) {
    const uint64_t bytes = known * BytesOf(input.dtype, 1);
    *open = bytes ? static_cast<int64_t>(body.size() / bytes) : 0;
  }
  if (config.max_batch_size > 0) tensor.dims.insert(tensor.dims.begin(), 1);
  request.inputs.push_back(std::move(tensor));
  return {};
}

}  // namespace tern::server
