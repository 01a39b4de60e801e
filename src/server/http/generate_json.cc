#include "server/http/generate_json.h"

#include "base/dtype.h"
#include "server/http/json_tensor.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

Status NoProperShape(std::string_view name) {
  return InvalidArgument("The schema can not convert input '", name, "' to tensor with proper shape");
}

// Sets the open dims so that the product of dims is `count`. The innermost open dim becomes `count` divided
// by the fixed dims. Other open dims become 1.
Status Distribute(std::string_view name, uint64_t count, Dims& dims) {
  for (const int64_t dim : dims) {
    if (dim < 0) continue;
    if (dim == 0 || count % static_cast<uint64_t>(dim) != 0) return NoProperShape(name);
    count /= static_cast<uint64_t>(dim);
  }
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] >= 0) continue;
    dims[i] = static_cast<int64_t>(count);
    count = 1;
  }
  return count == 1 ? Status() : NoProperShape(name);
}

// Sets `count` to the number of elements of the next value: the length of an array, or 1 for a single value.
Status CountElements(JsonReader& json, uint64_t& count) {
  const size_t begin = json.position();
  count = 1;
  if (json.Peek() == JsonReader::Kind::kArray) {
    count = 0;
    TERN_TRY(json.Array([&] {
      ++count;
      return json.Skip();
    }));
    json.Seek(begin);
  }
  return {};
}

class GenerateParser {
 public:
  GenerateParser(std::string_view body, const InferSource& source, Request& request)
      : json_(body, source.limits->json_depth), source_(source), request_(request) {}

  Status Run() {
    if (json_.Peek() != JsonReader::Kind::kObject) {
      TERN_TRY(json_.Skip());
      return InvalidArgument("the request JSON must be an object");
    }
    TERN_TRY(json_.Object([this](std::string_view key) { return Member(key, true); }));
    return json_.End();
  }

 private:
  Status Member(std::string_view key, bool top) {
    const std::string name(key);
    if (top && name == "id" && json_.Peek() == JsonReader::Kind::kString) return json_.String(request_.id);
    if (top && name == "id") return InvalidArgument("Unable to parse 'id'");
    if (top && name == "parameters") return Nested(name);
    if (const TensorConfig* input = source_.config->FindInput(name)) return Input(*input);
    if (request_.parameters.size() >= 1024)
      return InvalidArgument("the request has more than 1024 parameters");
    ParameterValue value;
    TERN_TRY(ReadParameter(json_, name, value));
    if (FindParameter(request_.parameters, name))
      return InvalidArgument("parameter '", name, "' occurs twice");
    request_.parameters.emplace_back(name, std::move(value));
    return {};
  }

  Status Nested(const std::string& name) {
    if (source_.config->FindInput(name))
      return InvalidArgument("Keyword '", name, "' for nested schema also given as input tensor name");
    if (json_.Peek() != JsonReader::Kind::kObject)
      return InvalidArgument("Expected JSON object for keyword: '", name, "'");
    return json_.Object([this](std::string_view key) { return Member(key, false); });
  }

  Status Input(const TensorConfig& input) {
    for (const WireTensor& other : request_.inputs)
      if (other.name == input.name)
        return InvalidArgument("input '", input.name, "' already exists in request");
    WireTensor tensor{input.name, input.dtype, input.dims, {}};
    if (source_.config->max_batch_size > 0) tensor.dims.insert(tensor.dims.begin(), -1);
    uint64_t count = 0;
    json_.Peek();
    TERN_TRY(CountElements(json_, count));
    if (count == 0) {
      TERN_TRY(json_.Skip());
      tensor.dims.assign(tensor.dims.size(), 0);
      tensor.bytes = Buffer::Allocate(0);
    } else {
      TERN_TRY(Distribute(input.name, count, tensor.dims));
      TERN_TRY(Value(tensor));
    }
    request_.inputs.push_back(std::move(tensor));
    return {};
  }

  // A single value is read like an array of one element.
  Status Value(WireTensor& tensor) {
    if (json_.Peek() == JsonReader::Kind::kArray) return ReadJsonTensor(json_, tensor);
    const size_t begin = json_.position();
    TERN_TRY(json_.Skip());
    std::string text = "[";
    text += json_.text().substr(begin, json_.position() - begin);
    text += ']';
    JsonReader one(text, source_.limits->json_depth);
    return ReadJsonTensor(one, tensor);
  }

  JsonReader json_;
  const InferSource& source_;
  Request& request_;
};

}  // namespace

Status ParseGenerateRequest(std::string_view body, const InferSource& source, Request& request) {
  return GenerateParser(body, source, request).Run();
}

Status AppendGenerateResponse(std::string& out, const ModelVersion& version, const Request& request,
                              const Response& response) {
  out += '{';
  if (!request.id.empty()) {
    AppendJsonKey(out, "id");
    AppendJson(out, request.id);
  }
  AppendJsonKey(out, "model_name");
  AppendJson(out, version.config().name);
  AppendJsonKey(out, "model_version");
  AppendJson(out, version.version());
  for (const auto& [name, value] : response.parameters) {
    AppendJsonKey(out, name);
    AppendJsonParameter(out, value);
  }
  for (const WireTensor& output : response.outputs) {
    AppendJsonKey(out, output.name);
    const auto count = CheckedCount(output.dims, output.dtype);
    const bool one = count && *count == 1;
    if (!one) out += '[';
    TERN_TRY(AppendJsonElements(out, output));
    if (!one) out += ']';
  }
  out += '}';
  return {};
}

}  // namespace tern::server
