// Reads the examples of classify and regress requests.
#include "server/dialects/tfs/json_tensor_reader.h"
#include "server/dialects/tfs/rest_request.h"

namespace tern::server::tfs {
namespace {

using Kind = JsonReader::Kind;

const char* KindText(Kind kind) {
  switch (kind) {
    case Kind::kObject:
      return "Object";
    case Kind::kArray:
      return "Array";
    case Kind::kString:
      return "String";
    case Kind::kNumber:
      return "Number";
    case Kind::kBool:
      return "Bool";
    default:
      return "Null";
  }
}

// Sets the type of a feature. All its values have the same type.
Status SetKind(const std::string& name, DType kind, Feature& feature) {
  if (feature.kind == DType::kInvalid) feature.kind = kind;
  if (feature.kind == kind) return {};
  const char* const expected = feature.kind == DType::kString ? "bytes"
                               : feature.kind == DType::kF32  ? "float"
                                                              : "int64";
  return InvalidArgument("Unexpected element type in feature: ", name, " expecting type: ", expected);
}

Status AddNumber(JsonReader& json, const std::string& name, Feature& feature) {
  JsonNumber number;
  TERN_TRY(json.Number(number));
  const bool fraction = number.text.find_first_of(".eEIN") != std::string_view::npos;
  TERN_TRY(SetKind(name, fraction ? DType::kF32 : DType::kI64, feature));
  if (!fraction) {
    if (!ToInt64(number, feature.integers.emplace_back()).ok())
      return InvalidArgument("Feature: ", name, " has uint64 element. Only int64 is supported.");
    return {};
  }
  if (ToFloat(number, feature.floats.emplace_back()).ok()) return {};
  return InvalidArgument("Cannot convert JSON value: ", number.text.substr(0, 40),
                         " to float without loss of precision.");
}

Status AddValue(JsonReader& json, const std::string& name, Feature& feature) {
  const Kind kind = json.Peek();
  if (kind == Kind::kNumber) return AddNumber(json, name, feature);
  if (kind == Kind::kBool) {
    TERN_TRY(SetKind(name, DType::kI64, feature));
    bool flag = false;
    TERN_TRY(json.Bool(flag));
    feature.integers.push_back(flag ? 1 : 0);
    return {};
  }
  if (kind == Kind::kString) {
    TERN_TRY(SetKind(name, DType::kString, feature));
    return json.String(feature.texts.emplace_back());
  }
  if (kind == Kind::kNone) return json.Skip();
  if (kind != Kind::kObject || !IsBase64(json))
    return InvalidArgument("Feature: ", name, " has element with unexpected JSON type: ", KindText(kind));
  TERN_TRY(SetKind(name, DType::kString, feature));
  return ReadBase64(json, feature.texts.emplace_back());
}

Status ReadObject(JsonReader& json, size_t most, Example& example) {
  if (json.Peek() != Kind::kObject)
    return InvalidArgument("Example must be JSON object but got JSON ", KindText(json.Peek()));
  return json.Object([&](std::string_view key) -> Status {
    const std::string name(key);
    Feature feature;
    if (json.Peek() == Kind::kArray)
      TERN_TRY(json.Array([&] { return AddValue(json, name, feature); }));
    else
      TERN_TRY(AddValue(json, name, feature));
    example.Set(name, std::move(feature));
    if (example.features.size() > most)
      return InvalidArgument("an example has more than ", most, " features");
    return {};
  });
}

}  // namespace

Status ReadExamples(std::string_view body, const BodyParts& parts, const Limits& limits, Examples& examples) {
  JsonReader json(body, limits.json_depth);
  if (parts.context) {
    json.Seek(parts.context);
    TERN_TRY(ReadObject(json, limits.tensors, examples.context));
  }
  if (!parts.examples)
    return InvalidArgument("JSON Value: ", ValueText(json, 0),
                           " When method is classify, key 'examples' is expected and was not found");
  json.Seek(parts.examples);
  if (json.Peek() != Kind::kArray)
    return InvalidArgument("JSON Value: ", ValueText(json, 0),
                           " Expecting 'examples' value to be an list/array");
  TERN_TRY(json.Array([&]() -> Status {
    if (examples.items.size() >= kMostExamples)
      return InvalidArgument("the request has more than ", kMostExamples, " examples");
    return ReadObject(json, limits.tensors, examples.items.emplace_back());
  }));
  if (examples.items.empty())
    return InvalidArgument("JSON Value: ", ValueText(json, 0), " 'examples' value is an empty array");
  return {};
}

}  // namespace tern::server::tfs
