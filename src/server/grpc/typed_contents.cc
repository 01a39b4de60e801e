#include "server/grpc/typed_contents.h"

#include <algorithm>
#include <cstring>

#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

// How the values of a type are encoded: the number of the field in InferTensorContents, and the wire kind of
// one value if the list is not packed.
struct Encoding {
  uint32_t field = 0;
  ProtoKind kind = ProtoKind::kVarint;
  size_t width = 0;  // bytes of one value in the tensor
};

Encoding EncodingOf(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {1, ProtoKind::kVarint, 1};
    case DType::kI8:
      return {2, ProtoKind::kVarint, 1};
    case DType::kI16:
      return {2, ProtoKind::kVarint, 2};
    case DType::kI32:
      return {2, ProtoKind::kVarint, 4};
    case DType::kI64:
      return {3, ProtoKind::kVarint, 8};
    case DType::kU8:
      return {4, ProtoKind::kVarint, 1};
    case DType::kU16:
      return {4, ProtoKind::kVarint, 2};
    case DType::kU32:
      return {4, ProtoKind::kVarint, 4};
    case DType::kU64:
      return {5, ProtoKind::kVarint, 8};
    case DType::kF32:
      return {6, ProtoKind::kFixed32, 4};
    case DType::kF64:
      return {7, ProtoKind::kFixed64, 8};
    case DType::kString:
      return {8, ProtoKind::kBytes, 4};
    default:
      return {};
  }
}

const char* ListName(uint32_t field) {
  constexpr const char* kNames[] = {"",
                                    "bool_contents",
                                    "int_contents",
                                    "int64_contents",
                                    "uint_contents",
                                    "uint64_contents",
                                    "fp32_contents",
                                    "fp64_contents",
                                    "bytes_contents"};
  return field < std::size(kNames) ? kNames[field] : "an unknown list";
}

size_t CountVarints(std::string_view packed) {
  return static_cast<size_t>(
      std::count_if(packed.begin(), packed.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; }));
}

// The number of values and bytes of the result.
struct Size {
  uint64_t values = 0, bytes = 0;
};

void CountField(const ProtoReader& reader, const Encoding& encoding, Size& size) {
  if (encoding.kind == ProtoKind::kBytes) {
    ++size.values;
    size.bytes += encoding.width + reader.bytes().size();
    return;
  }
  const size_t values = reader.kind() != ProtoKind::kBytes    ? 1
                        : encoding.kind == ProtoKind::kVarint ? CountVarints(reader.bytes())
                                                              : reader.bytes().size() / encoding.width;
  size.values += values;
  size.bytes += values * encoding.width;
}

// Returns whether the field is the list of this encoding, packed or not.
bool Matches(const ProtoReader& reader, const Encoding& encoding) {
  return reader.field() == encoding.field &&
         (reader.kind() == encoding.kind || reader.kind() == ProtoKind::kBytes);
}

Result<Size> Measure(std::string_view contents, const Encoding& encoding) {
  ProtoReader reader(contents);
  Size size;
  while (reader.Next()) {
    if (Matches(reader, encoding))
      CountField(reader, encoding, size);
    else if (reader.field() <= 8 && !(reader.kind() == ProtoKind::kBytes && reader.bytes().empty()))
      return InvalidArgument("values are in ", ListName(reader.field()), ", expected ",
                             ListName(encoding.field));
  }
  if (!reader.ok()) return InvalidArgument("the contents are not a protobuf message");
  return size;
}

// Returns whether a value fits into `dtype`, which may be narrower than the type of the list.
bool InRange(DType dtype, uint64_t value) {
  const auto number = static_cast<int64_t>(value);
  switch (dtype) {
    case DType::kI8:
      return number >= INT8_MIN && number <= INT8_MAX;
    case DType::kI16:
      return number >= INT16_MIN && number <= INT16_MAX;
    case DType::kI32:
      return number >= INT32_MIN && number <= INT32_MAX;
    case DType::kU8:
      return value <= UINT8_MAX;
    case DType::kU16:
      return value <= UINT16_MAX;
    case DType::kU32:
      return value <= UINT32_MAX;
    default:
      return true;
  }
}

Status OutOfRange(DType dtype, uint64_t value) {
  if (IsSignedInt(dtype)) return InvalidArgument("value ", static_cast<int64_t>(value), " is out of range");
  return InvalidArgument("value ", value, " is out of range");
}

// Writes values one after the other to `at`. Measure has computed the size of that memory.
class Writer {
 public:
  Writer(DType dtype, const Encoding& encoding, std::byte* at)
      : dtype_(dtype), encoding_(encoding), at_(at) {}

  Status AddField(const ProtoReader& reader) {
    if (encoding_.kind == ProtoKind::kBytes) return AddText(reader.bytes()), Status();
    if (reader.kind() != ProtoKind::kBytes) return AddNumber(reader.value());
    if (encoding_.kind == ProtoKind::kVarint) return AddVarints(reader.bytes());
    if (reader.bytes().size() % encoding_.width != 0)
      return InvalidArgument(ListName(encoding_.field), " has ", reader.bytes().size(),
                             " bytes, not a multiple of ", encoding_.width);
    AddBytes(reader.bytes().data(), reader.bytes().size());
    return {};
  }

 private:
  void AddBytes(const void* data, size_t size) {
    if (size) std::memcpy(at_, data, size);
    at_ += size;
  }
  void AddText(std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    AddBytes(&size, sizeof size);
    AddBytes(text.data(), text.size());
  }
  Status AddNumber(uint64_t value) {
    if (dtype_ == DType::kBool) value = value != 0;
    if (!InRange(dtype_, value)) return OutOfRange(dtype_, value);
    AddBytes(&value, encoding_.width);
    return {};
  }
  Status AddVarints(std::string_view packed) {
    const char* at = packed.data();
    const char* end = at + packed.size();
    uint64_t value = 0;
    while (at < end) {
      if (!ReadVarint(at, end, value))
        return InvalidArgument(ListName(encoding_.field), " ends inside a value");
      TERN_TRY(AddNumber(value));
    }
    return {};
  }

  DType dtype_;
  Encoding encoding_;
  std::byte* at_;
};

}  // namespace

Result<Buffer> ConvertContents(std::string_view contents, DType dtype, int64_t count, uint64_t limit) {
  const Encoding encoding = EncodingOf(dtype);
  if (!encoding.field) return InvalidArgument("this datatype has no typed contents; use raw_input_contents");
  TERN_ASSIGN(const Size size, Measure(contents, encoding));
  if (size.values != static_cast<uint64_t>(count))
    return InvalidArgument("expected ", count, " values in ", ListName(encoding.field), ", got ",
                           size.values);
  if (size.bytes > limit)
    return InvalidArgument("the values take ", size.bytes, " bytes; the limit is ", limit);
  Buffer out = Buffer::Allocate(size.bytes);
  Writer writer(dtype, encoding, out.data());
  ProtoReader reader(contents);
  while (reader.Next())
    if (Matches(reader, encoding)) TERN_TRY(writer.AddField(reader));
  return out;
}

}  // namespace tern::server
