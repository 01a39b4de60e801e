// Reads and writes the JSON of a configuration. protobuf reads it. This file writes it, because clients
// expect 64-bit integers as numbers and protobuf writes them as strings.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include "data/json_writer.h"
#include "model_config.pb.h"
#include "server/repository/config.h"
#include "server/repository/config_limits.h"

namespace tern::server {
namespace {

using data::JsonWriter;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void WriteMessage(const Message& message, JsonWriter& out);

// Writes a scalar field of a message. `index` is the index in a repeated field, or -1 for a single field.
void WriteScalar(const Message& message, const FieldDescriptor& field, int index, JsonWriter& out) {
  const Reflection& r = *message.GetReflection();
  const FieldDescriptor* f = &field;
  const bool one = index < 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      out.Int(one ? r.GetInt32(message, f) : r.GetRepeatedInt32(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      out.Int(one ? r.GetInt64(message, f) : r.GetRepeatedInt64(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      out.Unsigned(one ? r.GetUInt32(message, f) : r.GetRepeatedUInt32(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      out.Unsigned(one ? r.GetUInt64(message, f) : r.GetRepeatedUInt64(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      out.Number(one ? r.GetDouble(message, f) : r.GetRepeatedDouble(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      out.Number(one ? r.GetFloat(message, f) : r.GetRepeatedFloat(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      out.Bool(one ? r.GetBool(message, f) : r.GetRepeatedBool(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      out.Text(one ? r.GetString(message, f) : r.GetRepeatedString(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const int value = one ? r.GetEnumValue(message, f) : r.GetRepeatedEnumValue(message, f, index);
      const auto* known = field.enum_type()->FindValueByNumber(value);
      known ? out.Text(known->name()) : out.Int(value);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      WriteMessage(one ? r.GetMessage(message, f) : r.GetRepeatedMessage(message, f, index), out);
  }
}

// Returns the key of a map entry as text. Keys are strings or numbers.
std::string KeyText(const Message& entry) {
  const FieldDescriptor* key = entry.GetDescriptor()->map_key();
  const Reflection& r = *entry.GetReflection();
  return key->cpp_type() == FieldDescriptor::CPPTYPE_STRING ? r.GetString(entry, key)
                                                            : StrCat(r.GetUInt64(entry, key));
}

void WriteMap(const Message& message, const FieldDescriptor& field, JsonWriter& out) {
  const Reflection& r = *message.GetReflection();
  std::map<std::string, const Message*> sorted;
  for (int i = 0; i < r.FieldSize(message, &field); ++i) {
    const Message& entry = r.GetRepeatedMessage(message, &field, i);
    sorted[KeyText(entry)] = &entry;
  }
  out.BeginObject();
  for (const auto& [key, entry] : sorted) {
    out.Key(key);
    WriteScalar(*entry, *entry->GetDescriptor()->map_value(), -1, out);
  }
  out.EndObject();
}

void WriteField(const Message& message, const FieldDescriptor& field, JsonWriter& out) {
  const Reflection& r = *message.GetReflection();
  const bool optional = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || field.containing_oneof();
  if (!field.is_repeated() && optional && !r.HasField(message, &field)) return;
  out.Key(field.name());
  if (field.is_map()) return WriteMap(message, field, out);
  if (!field.is_repeated()) return WriteScalar(message, field, -1, out);
  out.BeginArray();
  for (int i = 0; i < r.FieldSize(message, &field); ++i) WriteScalar(message, field, i, out);
  out.EndArray();
}

void WriteMessage(const Message& message, JsonWriter& out) {
  const auto* type = message.GetDescriptor();
  out.BeginObject();
  for (int i = 0; i < type->field_count(); ++i) WriteField(message, *type->field(i), out);
  out.EndObject();
}

}  // namespace

std::string ConfigJson(const ConfigMessage& message) {
  JsonWriter out;
  WriteMessage(message, out);
  return out.Take();
}

Status ParseConfigJson(std::string_view text, ConfigMessage& out) {
  out.Clear();
  TERN_TRY(CheckConfigSize(text));
  return Guard([&]() -> Status {
    const auto status = google::protobuf::util::JsonStringToMessage(
        google::protobuf::StringPiece(text.data(), text.size()), &out);
    if (!status.ok())
      return InvalidArgument("model configuration: ",
                             std::string_view(status.message().data(), status.message().size()));
    return CheckConfigStrings(out);
  });
}

}  // namespace tern::server
