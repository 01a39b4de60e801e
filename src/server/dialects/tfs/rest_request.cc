#include "server/dialects/tfs/rest_request.h"

#include <algorithm>

#include "server/dialects/tfs/json_tensor_reader.h"

namespace tern::server::tfs {
namespace {

using Kind = JsonReader::Kind;

bool IsNamed(JsonReader& json) { return json.Peek() == Kind::kObject && !IsBase64(json); }

// Reads "instances".
class RowReader {
 public:
  RowReader(JsonReader& json, const ModelConfig& config) : json_(json), config_(config) {
    for (const TensorConfig& input : config.inputs) readers_.emplace_back(input.name, input.dtype);
  }

  Status Read(Request& request) {
    if (json_.Peek() != Kind::kArray)
      return InvalidArgument("Expecting 'instances' value to be an list/array");
    TERN_TRY(json_.Array([this] { return Item(); }));
    if (count_ == 0) return InvalidArgument("No values in 'instances' array");
    for (size_t i = 0; i < readers_.size(); ++i)
      if (readers_[i].items() > 0) request.inputs.push_back(readers_[i].Take(true));
    return {};
  }

 private:
  Status Item() {
    const bool named = IsNamed(json_);
    if (count_ == 0) named_ = named;
    if (named && !named_)
      return InvalidArgument("Expecting value/list but got object at item ", count_, " of input list");
    if (!named && named_)
      return InvalidArgument("Expecting object but got value/list at item ", count_, " of input list");
    const Status status = named ? Object() : Value();
    ++count_;
    return status;
  }

  Status Failed(const std::string& key, const Status& why) const {
    if (why.ok()) return {};
    const std::string where = key.empty() ? "" : StrCat(" key: ", key);
    return InvalidArgument("Failed to process element: ", count_, where,
                           " of 'instances' list. Error: INVALID_ARGUMENT: ", why.message());
  }

  Status Value() {
    if (readers_.size() != 1)
      return InvalidArgument(
          "instances is a plain list, but expecting list of objects as multiple input tensors required as "
          "per tensorinfo_map");
    return Failed("", readers_[0].AddItem(json_));
  }

  Status Object() {
    const size_t begin = json_.position();
    TERN_TRY(json_.Object([this](std::string_view key) -> Status {
      const std::string name(key);
      const auto input = std::find_if(config_.inputs.begin(), config_.inputs.end(),
                                      [&](const TensorConfig& i) { return i.name == name; });
      if (input == config_.inputs.end())
        return Failed(name, InvalidArgument("JSON object: does not have named input: ", name));
      JsonTensorReader& reader = readers_[static_cast<size_t>(input - config_.inputs.begin())];
      if (reader.items() > count_) return Failed(name, InvalidArgument("the key occurs twice"));
      return Failed(name, reader.AddItem(json_));
    }));
    for (size_t i = 0; i < readers_.size(); ++i)
      if (readers_[i].items() <= count_ && !(config_.inputs[i].optional && readers_[i].items() == 0))
        return Keys(begin);
    return {};
  }

  Status Keys(size_t begin) {
    std::vector<std::string> names;
    for (const TensorConfig& input : config_.inputs) names.push_back(input.name);
    std::sort(names.begin(), names.end());
    return InvalidArgument("Failed to process element: ", count_,
                           " of 'instances' list. JSON object: ", ValueText(json_, begin),
                           " keys must be equal to: ", Join(names, ","));
  }

  JsonReader& json_;
  const ModelConfig& config_;
  std::vector<JsonTensorReader> readers_;  // one per input
  int64_t count_ = 0;
  bool named_ = false;
};

Status ReadColumn(JsonReader& json, const TensorConfig& input, Request& request) {
  JsonTensorReader reader(input.name, input.dtype);
  TERN_TRY(reader.AddItem(json));
  request.inputs.push_back(reader.Take(false));
  return {};
}

// Reads "inputs".
Status ReadColumns(JsonReader& json, const ModelConfig& config, Request& request) {
  if (!IsNamed(json)) {
    if (config.inputs.size() == 1) return ReadColumn(json, config.inputs[0], request);
    return InvalidArgument(
        "inputs is a plain value/list, but expecting an object as multiple input tensors required as per "
        "tensorinfo_map");
  }
  TERN_TRY(json.Object([&](std::string_view key) -> Status {
    const TensorConfig* input = config.FindInput(key);
    if (!input) return json.Skip();
    for (const WireTensor& other : request.inputs)
      if (other.name == key) return InvalidArgument("input '", key, "' occurs twice in 'inputs' object.");
    return ReadColumn(json, *input, request);
  }));
  for (const TensorConfig& input : config.inputs) {
    const bool given = std::any_of(request.inputs.begin(), request.inputs.end(),
                                   [&](const WireTensor& tensor) { return tensor.name == input.name; });
    if (!given && !input.optional)
      return InvalidArgument("Missing named input: ", input.name, " in 'inputs' object.");
  }
  return {};
}

}  // namespace

Status FindParts(std::string_view body, const Limits& limits, BodyParts& parts) {
  JsonReader json(body, limits.json_depth);
  if (json.Peek() == Kind::kNone && json.left() == 0)
    return InvalidArgument("JSON Parse error: The document is empty");
  if (json.Peek() != Kind::kObject) {
    TERN_TRY(json.Skip());
    return InvalidArgument("JSON Value: ", ValueText(json, 0), " Is not object");
  }
  TERN_TRY(json.Object([&](std::string_view key) -> Status {
    const Kind kind = json.Peek();
    if (key == "signature_name") {
      if (kind != Kind::kString)
        return InvalidArgument("JSON Value: ", ValueText(json, 0),
                               " not formatted correctly. 'signature_name' key must be a string value.");
      return json.String(parts.signature);
    }
    size_t* const part = key == "instances"  ? &parts.instances
                         : key == "inputs"   ? &parts.inputs
                         : key == "examples" ? &parts.examples
                         : key == "context"  ? &parts.context
                                             : nullptr;
    if (part && std::exchange(*part, json.position()) != 0)
      return InvalidArgument("the key '", key, "' occurs twice");
    return json.Skip();
  }));
  return json.End();
}

Status ReadPredict(std::string_view body, const BodyParts& parts, const ModelConfig& config,
                   const Limits& limits, Request& request, Layout& layout) {
  JsonReader json(body, limits.json_depth);
  if (parts.instances && parts.inputs)
    return InvalidArgument(
        "JSON Value: ", ValueText(json, 0),
        " Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ");
  if (!parts.instances && !parts.inputs) return InvalidArgument("Missing 'inputs' or 'instances' key");
  if (config.inputs.empty()) return InvalidArgument("Failed to get input map for signature");
  layout = parts.instances ? Layout::kRow : Layout::kColumn;
  json.Seek(parts.instances ? parts.instances : parts.inputs);
  return parts.instances ? RowReader(json, config).Read(request) : ReadColumns(json, config, request);
}

}  // namespace tern::server::tfs
