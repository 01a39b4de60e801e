#include "server/repository/config_limits.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "data/utf8.h"

namespace tern::server {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

Status CheckString(const FieldDescriptor& field, const std::string& text) {
  if (data::DecodeUtf8(text)) return {};
  return InvalidArgument("model configuration: field '", field.name(), "' is not valid UTF-8");
}

Status CheckField(const Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const bool text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  if (!text && field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return {};
  std::string scratch;
  if (!field.is_repeated())
    return text ? CheckString(field, reflection.GetStringReference(message, &field, &scratch))
                : CheckConfigStrings(reflection.GetMessage(message, &field));
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i)
    TERN_TRY(text ? CheckString(field, reflection.GetRepeatedStringReference(message, &field, i, &scratch))
                  : CheckConfigStrings(reflection.GetRepeatedMessage(message, &field, i)));
  return {};
}

}  // namespace

Status CheckConfigSize(std::string_view text) {
  if (text.size() <= kConfigBytes) return {};
  return InvalidArgument("the model configuration has ", text.size(), " bytes, at most ", kConfigBytes,
                         " are allowed");
}

Status CheckConfigStrings(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) TERN_TRY(CheckField(message, *field));
  return {};
}

}  // namespace tern::server
