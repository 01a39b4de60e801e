#include "server/grpc/infer_parameters.h"

#include <bit>
#include <charconv>

#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

// One InferParameter. `choice` is the number of the field that is set, or 0 if none is set.
struct Value {
  std::string_view name;
  uint32_t choice = 0;
  uint64_t number = 0;
  std::string_view text;

  bool is_bool() const { return choice == 1; }
  bool is_integer() const { return choice == 2 || choice == 5; }
  bool is_text() const { return choice == 3; }
  bool negative() const { return choice == 2 && static_cast<int64_t>(number) < 0; }
};

bool ReadChoice(std::string_view bytes, Value& value) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    const uint32_t field = reader.field();
    const ProtoKind expected = field == 3   ? ProtoKind::kBytes
                               : field == 4 ? ProtoKind::kFixed64
                                            : ProtoKind::kVarint;
    if (field > 5 || reader.kind() != expected) continue;
    value.choice = field;
    value.number = field == 1 ? reader.value() != 0 : reader.value();
    value.text = field == 3 ? reader.bytes() : std::string_view();
  }
  return reader.ok() && IsUtf8(value.text);
}

Result<Value> ReadEntry(std::string_view entry) {
  ProtoReader reader(entry);
  Value value;
  bool good = true;
  while (reader.Next()) {
    if (reader.Is(1, ProtoKind::kBytes)) value.name = reader.bytes();
    if (reader.Is(2, ProtoKind::kBytes)) good = good && ReadChoice(reader.bytes(), value);
  }
  if (!good || !reader.ok() || !IsUtf8(value.name))
    return InvalidArgument("a parameter is not a protobuf message");
  return value;
}

Status WrongType(const Value& value, const char* expected) {
  return InvalidArgument("parameter '", value.name, "': expected ", expected);
}

Status ReadBool(const Value& value, bool& out) {
  if (!value.is_bool()) return WrongType(value, "a boolean");
  out = value.number != 0;
  return {};
}

Status ReadUnsigned(const Value& value, uint64_t& out) {
  if (!value.is_integer() || value.negative()) return WrongType(value, "a non-negative integer");
  out = value.number;
  return {};
}

// The request belongs to no sequence if the id is 0 or an empty text.
Status ReadSequenceId(const Value& value, SequenceInfo& sequence) {
  sequence.numeric = !value.is_text();
  if (value.is_text()) {
    sequence.id = value.text;
    return {};
  }
  if (!value.is_integer()) return WrongType(value, "an integer or a string");
  sequence.id = value.number ? StrCat(value.number) : std::string();
  return {};
}

Status ReadTimeout(const Value& value, Request& request) {
  uint64_t microseconds = 0;
  TERN_TRY(ReadUnsigned(value, microseconds));
  // One year, so that no sum of times overflows.
  constexpr uint64_t kMax = uint64_t{365} * 24 * 3600 * 1'000'000;
  request.timeout = std::chrono::microseconds(microseconds < kMax ? microseconds : kMax);
  return {};
}

Status AddOther(const Value& value, Parameters& parameters) {
  if (value.name.starts_with("triton_"))
    return InvalidArgument("parameter '", value.name, "': names that start with 'triton_' are reserved");
  ParameterValue out;
  if (value.is_bool())
    out = value.number != 0;
  else if (value.is_text())
    out = std::string(value.text);
  else if (value.choice == 4)
    out = std::bit_cast<double>(value.number);
  else if (value.choice == 5 && value.number > INT64_MAX)
    return WrongType(value, "an integer below 2^63");
  else if (value.is_integer())
    out = static_cast<int64_t>(value.number);
  else
    return WrongType(value, "a value");
  for (auto& [name, old] : parameters)
    if (name == value.name) return old = std::move(out), Status();
  parameters.emplace_back(value.name, std::move(out));
  return {};
}

// Returns whether the parameter is one of shared memory's. If it is, stores it in `use`.
Result<bool> ReadSharedMemory(const Value& value, SharedMemoryUse& use) {
  if (value.name == "shared_memory_region") {
    if (!value.is_text()) return WrongType(value, "a string");
    use.region = value.text;
    return true;
  }
  const bool size = value.name == "shared_memory_byte_size";
  if (!size && value.name != "shared_memory_offset") return false;
  TERN_TRY(ReadUnsigned(value, size ? use.bytes : use.offset));
  use.has_bytes = use.has_bytes || size;
  return true;
}

}  // namespace

Status ReadRequestParameter(std::string_view entry, Request& request) {
  TERN_ASSIGN(const Value value, ReadEntry(entry));
  if (value.name == "sequence_id") return ReadSequenceId(value, request.sequence);
  if (value.name == "sequence_start") return ReadBool(value, request.sequence.start);
  if (value.name == "sequence_end") return ReadBool(value, request.sequence.end);
  if (value.name == "priority") return ReadUnsigned(value, request.priority);
  if (value.name == "timeout") return ReadTimeout(value, request);
  if (value.name == "triton_enable_empty_final_response") return ReadBool(value, request.empty_final);
  constexpr size_t kMaxParameters = 256;
  if (request.parameters.size() >= kMaxParameters)
    return InvalidArgument("the request has more than ", kMaxParameters, " parameters");
  return AddOther(value, request.parameters);
}

Status ReadInputParameter(std::string_view entry, SharedMemoryUse& use) {
  TERN_ASSIGN(const Value value, ReadEntry(entry));
  return ReadSharedMemory(value, use).TakeStatus();
}

Status ReadOutputParameter(std::string_view entry, SharedMemoryUse& use, int& classification) {
  TERN_ASSIGN(const Value value, ReadEntry(entry));
  if (value.name != "classification") return ReadSharedMemory(value, use).TakeStatus();
  uint64_t classes = 0;
  TERN_TRY(ReadUnsigned(value, classes));
  if (classes == 0) return WrongType(value, "a positive integer");
  if (classes > INT32_MAX) return WrongType(value, "an integer below 2^31");
  classification = static_cast<int>(classes);
  return {};
}

}  // namespace tern::server
