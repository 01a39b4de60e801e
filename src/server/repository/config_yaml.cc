// Reads config.yaml, whose keys are the field names of inference.ModelConfig.
#include <google/protobuf/descriptor.h>
#include <yaml-cpp/yaml.h>

#include "model_config.pb.h"
#include "server/repository/config.h"
#include "server/repository/config_limits.h"

namespace tern::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <class... A> Status ErrorAt(const YAML::Mark& mark, const A&... text) {
  if (mark.is_null()) return InvalidArgument("model configuration: ", text...);
  return InvalidArgument("model configuration, line ", mark.line + 1, ", column ", mark.column + 1, ": ",
                         text...);
}

// Converts nodes to messages. The schema limits the depth. `left_` limits the number of values, because YAML
// aliases can multiply them.
class YamlReader {
 public:
  Status Read(const YAML::Node& node, Message& out) {
    if (node.IsNull()) return {};
    if (!node.IsMap()) return ErrorAt(node.Mark(), "expected fields of ", out.GetDescriptor()->name());
    for (const auto& pair : node) {
      if (!pair.first.IsScalar()) return ErrorAt(pair.first.Mark(), "expected the name of a field");
      const std::string& name = pair.first.Scalar();
      const FieldDescriptor* field = out.GetDescriptor()->FindFieldByName(name);
      if (!field)
        return ErrorAt(pair.first.Mark(), "message ", out.GetDescriptor()->name(), " has no field '", name,
                       "'");
      TERN_TRY(ReadField(pair.second, *field, out));
    }
    return {};
  }

 private:
  Status ReadField(const YAML::Node& node, const FieldDescriptor& field, Message& out) {
    if (field.is_map()) return ReadMap(node, field, out);
    if (field.is_repeated()) return ReadList(node, field, out);
    if (const auto* choice = field.containing_oneof())
      if (out.GetReflection()->HasOneof(out, choice))
        return ErrorAt(node.Mark(), "only one field of '", choice->name(), "' may be set");
    return ReadValue(node, field, false, out);
  }

  // Reads a list. A single value is accepted as a list of one element.
  Status ReadList(const YAML::Node& node, const FieldDescriptor& field, Message& out) {
    if (node.IsNull()) return {};
    if (!node.IsSequence()) return ReadValue(node, field, true, out);
    for (const YAML::Node& item : node) TERN_TRY(ReadValue(item, field, true, out));
    return {};
  }

  Status ReadMap(const YAML::Node& node, const FieldDescriptor& field, Message& out) {
    if (node.IsNull()) return {};
    if (!node.IsMap()) return ErrorAt(node.Mark(), "field '", field.name(), "' must be a map");
    for (const auto& pair : node) {
      Message* entry = out.GetReflection()->AddMessage(&out, &field);
      TERN_TRY(ReadValue(pair.first, *entry->GetDescriptor()->map_key(), false, *entry));
      const FieldDescriptor& value = *entry->GetDescriptor()->map_value();
      // parameters: {key: "text"} is short for {key: {string_value: "text"}}.
      if (value.message_type() == inference::ModelParameter::descriptor() && pair.second.IsScalar()) {
        auto* parameter = entry->GetReflection()->MutableMessage(entry, &value);
        TERN_TRY(ReadValue(pair.second, *value.message_type()->FindFieldByName("string_value"), false,
                           *parameter));
      } else {
        TERN_TRY(ReadValue(pair.second, value, false, *entry));
      }
    }
    return {};
  }

  Status ReadValue(const YAML::Node& node, const FieldDescriptor& field, bool add, Message& out) {
    if (--left_ < 0) return ErrorAt(node.Mark(), "more than ", kConfigValues, " values");
    const Reflection& r = *out.GetReflection();
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
      return Read(node, add ? *r.AddMessage(&out, &field) : *r.MutableMessage(&out, &field));
    if (!node.IsScalar()) return ErrorAt(node.Mark(), "field '", field.name(), "' must be a single value");
    return ReadScalar(node, field, add, out);
  }

  template <class T> static Status Number(const YAML::Node& node, const FieldDescriptor& field, T& value) {
    if (YAML::convert<T>::decode(node, value)) return {};
    return ErrorAt(node.Mark(), "'", node.Scalar(), "' is no value for field '", field.name(), "' of type ",
                   field.cpp_type_name());
  }

  static Status ReadEnum(const YAML::Node& node, const FieldDescriptor& field, bool add, Message& out) {
    const auto* value = field.enum_type()->FindValueByName(node.Scalar());
    if (!value) {
      int number = 0;
      TERN_TRY(Number(node, field, number));
      value = field.enum_type()->FindValueByNumber(number);
    }
    if (!value)
      return ErrorAt(node.Mark(), "'", node.Scalar(), "' is no value of ", field.enum_type()->name());
    const Reflection& r = *out.GetReflection();
    add ? r.AddEnum(&out, &field, value) : r.SetEnum(&out, &field, value);
    return {};
  }

  template <class T, class Add, class Set>
  static Status Scalar(const YAML::Node& node, const FieldDescriptor& field, Message* add_to, Message& out,
                       Add add, Set set) {
    T value{};
    TERN_TRY(Number(node, field, value));
    const Reflection& r = *out.GetReflection();
    add_to ? (r.*add)(add_to, &field, std::move(value)) : (r.*set)(&out, &field, std::move(value));
    return {};
  }

  static Status ReadScalar(const YAML::Node& node, const FieldDescriptor& field, bool add, Message& out) {
    using R = Reflection;
    Message* to = add ? &out : nullptr;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Scalar<int32_t>(node, field, to, out, &R::AddInt32, &R::SetInt32);
      case FieldDescriptor::CPPTYPE_INT64:
        return Scalar<int64_t>(node, field, to, out, &R::AddInt64, &R::SetInt64);
      case FieldDescriptor::CPPTYPE_UINT32:
        return Scalar<uint32_t>(node, field, to, out, &R::AddUInt32, &R::SetUInt32);
      case FieldDescriptor::CPPTYPE_UINT64:
        return Scalar<uint64_t>(node, field, to, out, &R::AddUInt64, &R::SetUInt64);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return Scalar<double>(node, field, to, out, &R::AddDouble, &R::SetDouble);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return Scalar<float>(node, field, to, out, &R::AddFloat, &R::SetFloat);
      case FieldDescriptor::CPPTYPE_BOOL:
        return Scalar<bool>(node, field, to, out, &R::AddBool, &R::SetBool);
      case FieldDescriptor::CPPTYPE_STRING:
        return Scalar<std::string>(node, field, to, out, &R::AddString, &R::SetString);
      case FieldDescriptor::CPPTYPE_ENUM:
        return ReadEnum(node, field, add, out);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        break;
    }
    return ErrorAt(node.Mark(), "field '", field.name(), "' has no value");
  }

  int left_ = kConfigValues;
};

}  // namespace

Status ParseConfigYaml(std::string_view text, ConfigMessage& out) {
  out.Clear();
  TERN_TRY(CheckConfigSize(text));
  return Guard([&]() -> Status {
    try {
      TERN_TRY(YamlReader().Read(YAML::Load(std::string(text)), out));
    } catch (const YAML::Exception& e) {
      return ErrorAt(e.mark, e.msg);
    }
    return CheckConfigStrings(out);
  });
}

}  // namespace tern::server
