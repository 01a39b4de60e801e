#include "server/load/payload.h"

#include <algorithm>
#include <cstring>

#include "data/json_writer.h"
#include "data/npy.h"
#include "data/random.h"
#include "server/core/model_config.h"
#include "server/load/proto_text.h"

namespace tern::server::loadgen {
namespace {

using data::JsonWriter;

Result<Dims> ChooseDims(const TensorFacts& facts, const LoadCommand& command) {
  const auto given = command.shapes.find(facts.name);
  if (given != command.shapes.end()) return given->second;
  Dims dims = facts.shape;
  for (int64_t& d : dims)
    if (d < 0) d = command.open_dim;
  return dims;
}

Result<Tensor> ChooseTensor(const TensorFacts& facts, const LoadCommand& command, DType dtype) {
  const auto given = command.inputs.find(facts.name);
  if (given != command.inputs.end()) return data::AdoptStorage(given->second, dtype);
  TERN_ASSIGN(const Dims dims, ChooseDims(facts, command));
  if (!CheckedCount(dims, dtype)) return InvalidArgument("input '", facts.name, "' is too large");
  return data::RandomTensor(dtype, dims, command.seed, facts.name);
}

template <class Map> Status CheckNames(const Map& map, const ModelFacts& facts) {
  for (const auto& [name, value] : map) {
    const bool known = std::any_of(facts.inputs.begin(), facts.inputs.end(),
                                   [&, n = &name](const TensorFacts& t) { return t.name == *n; });
    if (known) continue;
    std::vector<std::string> names;
    for (const TensorFacts& t : facts.inputs) names.push_back(t.name);
    return InvalidArgument("the model has no input '", name, "'; its inputs are: ", Join(names, ", "));
  }
  return {};
}

void WriteHttpInput(const InputTensor& input, size_t i, const LoadCommand& command,
                    const SharedInputs* shared, JsonWriter& json) {
  json.BeginObject()
      .Key("name")
      .Text(input.name)
      .Key("datatype")
      .Text(input.datatype)
      .Key("shape")
      .Dims(input.dims);
  if (command.json && !shared) {
    json.Key("data").Elements(input.tensor).EndObject();
    return;
  }
  json.Key("parameters").BeginObject();
  if (shared) {
    json.Key("shared_memory_region")
        .Text(shared->region())
        .Key("shared_memory_offset")
        .Unsigned(shared->offset(i));
    json.Key("shared_memory_byte_size").Unsigned(input.bytes.size());
  } else {
    json.Key("binary_data_size").Unsigned(input.bytes.size());
  }
  json.EndObject().EndObject();
}

RequestBytes HttpInfer(const Url& url, const LoadCommand& command, const std::vector<InputTensor>& inputs,
                       const SharedInputs* shared) {
  JsonWriter json;
  json.BeginObject().Key("inputs").BeginArray();
  for (size_t i = 0; i < inputs.size(); ++i) WriteHttpInput(inputs[i], i, command, shared, json);
  json.EndArray();
  if (!command.json) json.Key("parameters").BeginObject().Key("binary_data_output").Bool(true).EndObject();
  std::string body = json.EndObject().Take();
  std::string headers;
  if (!command.json) headers = StrCat("Inference-Header-Content-Length: ", body.size(), "\r\n");
  if (!command.json && !shared)
    for (const InputTensor& input : inputs) body += input.bytes;
  std::string path = StrCat(url.path == "/" ? "" : url.path, "/v2/models/", PercentEncode(command.model));
  if (!command.version.empty()) path += StrCat("/versions/", PercentEncode(command.version));
  return HttpRequest(url, "POST", path + "/infer", headers, body);
}

// Encodes an entry of map<string, InferParameter>.
std::string Parameter(std::string_view name, std::string_view value_message) {
  std::string entry;
  AppendField(1, name, entry);
  AppendField(2, value_message, entry);
  return entry;
}
std::string TextValue(std::string_view text) {
  std::string value;
  AppendField(3, text, value);
  return value;
}
std::string NumberValue(uint64_t number) {
  std::string value;
  AppendNumber(2, number, value);
  return value;
}

RequestBytes GrpcInfer(const LoadCommand& command, const std::vector<InputTensor>& inputs,
                       const SharedInputs* shared) {
  std::string message;
  AppendField(1, command.model, message);
  if (!command.version.empty()) AppendField(2, command.version, message);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputTensor& input = inputs[i];
    std::string tensor, packed;
    AppendField(1, input.name, tensor);
    AppendField(2, input.datatype, tensor);
    for (const int64_t d : input.dims) AppendVarint(static_cast<uint64_t>(d), packed);
    AppendField(3, packed, tensor);
    if (shared) {
      AppendField(4, Parameter("shared_memory_region", TextValue(shared->region())), tensor);
      AppendField(4, Parameter("shared_memory_offset", NumberValue(shared->offset(i))), tensor);
      AppendField(4, Parameter("shared_memory_byte_size", NumberValue(input.bytes.size())), tensor);
    }
    AppendField(5, tensor, message);
  }
  if (!shared)
    for (const InputTensor& input : inputs) AppendField(7, input.bytes, message);
  return GrpcRequest("ModelInfer", message);
}

}  // namespace

std::string WireBytes(const Tensor& tensor) {
  const Tensor t = tensor.Contiguous();
  if (t.dtype() != DType::kString) return {reinterpret_cast<const char*>(t.raw()), t.bytes()};
  std::string out;
  for (const std::string& text : ToStrings(t)) {
    const auto size = static_cast<uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out += text;
  }
  return out;
}

Result<std::vector<InputTensor>> MakeInputs(const ModelFacts& facts, const LoadCommand& command) {
  TERN_TRY(CheckNames(command.inputs, facts));
  TERN_TRY(CheckNames(command.shapes, facts));
  std::vector<InputTensor> inputs;
  for (const TensorFacts& fact : facts.inputs) {
    const DType dtype = WireType(fact.datatype);
    if (dtype == DType::kInvalid)
      return Unsupported("input '", fact.name, "' has the type '", fact.datatype, "'");
    Result<Tensor> tensor = ChooseTensor(fact, command, dtype);
    if (!tensor.ok()) return tensor.TakeStatus().While(StrCat("making input '", fact.name, "'"));
    inputs.push_back({fact.name, fact.datatype, tensor->dims(), WireBytes(*tensor), *tensor});
  }
  return inputs;
}

RequestBytes InferRequest(const Url& url, const LoadCommand& command, const std::vector<InputTensor>& inputs,
                          const SharedInputs* shared) {
  return command.grpc ? GrpcInfer(command, inputs, shared) : HttpInfer(url, command, inputs, shared);
}

}  // namespace tern::server::loadgen
