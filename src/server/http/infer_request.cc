#include "server/http/infer_request.h"

#include "server/http/infer_tensors.h"

namespace tern::server {
namespace {

Status Unable(std::string_view name) { return InvalidArgument("Unable to parse '", name, "'"); }

Status ReadUnsigned(JsonReader& json, std::string_view name, uint64_t& value) {
  JsonNumber number;
  if (json.Peek() != JsonReader::Kind::kNumber) return Unable(name);
  TERN_TRY(json.Number(number));
  return ToUint64(number, value).ok() ? Status() : Unable(name);
}

Status ReadFlag(JsonReader& json, std::string_view name, bool& value) {
  return json.Peek() == JsonReader::Kind::kBool ? json.Bool(value) : Unable(name);
}

Status ReadSequenceId(JsonReader& json, SequenceInfo& sequence) {
  if (json.Peek() == JsonReader::Kind::kString) {
    sequence.numeric = false;
    return json.String(sequence.id);
  }
  uint64_t id = 0;
  TERN_TRY(ReadUnsigned(json, "sequence_id", id));
  sequence.numeric = true;
  sequence.id = id ? std::to_string(id) : "";
  return {};
}

Status ReadTimeout(JsonReader& json, Request& request) {
  uint64_t microseconds = 0;
  TERN_TRY(ReadUnsigned(json, "timeout", microseconds));
  // Limits the time-out to 100 years, so that it can be added to a time without overflow.
  constexpr uint64_t kMost = uint64_t{100} * 365 * 24 * 3600 * 1'000'000;
  request.timeout = std::chrono::microseconds(std::min(microseconds, kMost));
  return {};
}

Status ReadRequestParameter(JsonReader& json, std::string_view key, Request& request, InferFormat& format) {
  if (key == "sequence_id") return ReadSequenceId(json, request.sequence);
  if (key == "sequence_start") return ReadFlag(json, key, request.sequence.start);
  if (key == "sequence_end") return ReadFlag(json, key, request.sequence.end);
  if (key == "priority") return ReadUnsigned(json, key, request.priority);
  if (key == "timeout") return ReadTimeout(json, request);
  if (key == "binary_data_output") return ReadFlag(json, key, format.default_binary);
  if (key.starts_with("triton_"))
    return InvalidArgument(
        "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.");
  std::string name(key);
  ParameterValue value;
  TERN_TRY(ReadParameter(json, name, value));
  if (request.parameters.size() >= 1024) return InvalidArgument("the request has more than 1024 parameters");
  if (FindParameter(request.parameters, name)) return InvalidArgument("parameter '", name, "' occurs twice");
  request.parameters.emplace_back(std::move(name), std::move(value));
  return {};
}

// Parses the JSON of the body. binary_ contains the bytes after the JSON. Inputs with binary data remove
// their bytes from binary_.
class Parser {
 public:
  Parser(const Buffer& body, size_t header, const InferSource& source, Request& request, InferFormat& format)
      : json_({reinterpret_cast<const char*>(body.data()), header}, source.limits->json_depth),
        binary_(body.Slice(header, body.size() - header)),
        source_(source),
        request_(request),
        format_(format) {}

  Status Run() {
    if (json_.Peek() != JsonReader::Kind::kObject) {
      TERN_TRY(json_.Skip());
      return InvalidArgument("the request JSON must be an object");
    }
    TERN_TRY(json_.Object([this](std::string_view key) { return Member(key); }));
    TERN_TRY(json_.End());
    if (!has_inputs_) return Unable("inputs");
    if (binary_.size() != 0)
      return InvalidArgument("unexpected additional input data for model '", source_.config->name, "'");
    return {};
  }

 private:
  Status Member(std::string_view key) {
    if (key == "id")
      return json_.Peek() == JsonReader::Kind::kString ? json_.String(request_.id) : Unable("id");
    if (key == "inputs") return Inputs();
    if (key == "outputs") return Outputs();
    if (key != "parameters") return json_.Skip();
    if (json_.Peek() != JsonReader::Kind::kObject) return Unable("parameters");
    return json_.Object(
        [this](std::string_view name) { return ReadRequestParameter(json_, name, request_, format_); });
  }

  Status Inputs() {
    if (has_inputs_ || json_.Peek() != JsonReader::Kind::kArray) return Unable("inputs");
    has_inputs_ = true;
    return json_.Array([this]() -> Status {
      InputFields fields;
      TERN_TRY(ReadInputFields(json_, fields));
      TERN_TRY(ReadInputData(json_, source_, fields, binary_));
      TERN_TRY(CheckCount(request_.inputs.size(), "inputs"));
      for (const WireTensor& other : request_.inputs)
        if (other.name == fields.tensor.name)
          return InvalidArgument("input '", other.name, "' already exists in request");
      if (fields.data) format_.converted += fields.tensor.bytes.size();
      if (fields.range) {
        if (__builtin_add_overflow(format_.converted, fields.range->size(), &format_.converted))
          return InvalidArgument("the inputs in shared memory have too many bytes");
        format_.shared.inputs.push_back({request_.inputs.size(), std::move(fields.range)});
      }
      request_.inputs.push_back(std::move(fields.tensor));
      return {};
    });
  }

  Status Outputs() {
    if (!request_.outputs.empty() || json_.Peek() != JsonReader::Kind::kArray) return Unable("outputs");
    return json_.Array([this]() -> Status {
      TERN_TRY(CheckCount(request_.outputs.size(), "outputs"));
      return ReadOutput(json_, source_, request_, format_);
    });
  }

  Status CheckCount(size_t count, const char* what) const {
    if (count < source_.limits->tensors) return {};
    return InvalidArgument("the request has more than ", source_.limits->tensors, " ", what);
  }

  JsonReader json_;
  Buffer binary_;
  const InferSource& source_;
  Request& request_;
  InferFormat& format_;
  bool has_inputs_ = false;
};

}  // namespace

Status ReadParameter(JsonReader& json, std::string_view name, ParameterValue& value) {
  JsonNumber number;
  switch (json.Peek()) {
    case JsonReader::Kind::kString:
      return json.String(value.emplace<std::string>());
    case JsonReader::Kind::kBool:
      return json.Bool(value.emplace<bool>());
    case JsonReader::Kind::kNumber:
      TERN_TRY(json.Number(number));
      if (number.integer) return ToInt64(number, value.emplace<int64_t>());
      return ToDouble(number, value.emplace<double>());
    default:
      return InvalidArgument("parameter '", name,
                             "' has invalid type. It should be either 'int', 'bool', 'double' or 'string'.");
  }
}

Status ParseInferRequest(const Buffer& body, std::optional<uint64_t> header_length, const InferSource& source,
                         Request& request, InferFormat& format) {
  if (header_length && *header_length == 0) {
    format.default_binary = true;
    return ReadRawInput(body, source, request);
  }
  if (header_length.value_or(0) > body.size())
    return InvalidArgument("inference header size should be in range (0, ", body.size(),
                           "), got: ", *header_length);
  return Parser(body, static_cast<size_t>(header_length.value_or(body.size())), source, request, format)
      .Run();
}

}  // namespace tern::server
