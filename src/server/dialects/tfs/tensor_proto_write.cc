#include <cstring>

#include "server/dialects/tfs/data_types.h"
#include "server/dialects/tfs/tensor_proto.h"
#include "server/grpc/proto_wire.h"

namespace tern::server::tfs {
namespace {

// Appends `count` integers as one packed list.
template <class T> void AppendPacked(std::string& out, uint32_t field, const Buffer& bytes) {
  std::string packed;
  const size_t count = bytes.size() / sizeof(T);
  packed.reserve(count * 2);
  for (size_t i = 0; i < count; ++i) {
    T value{};
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    // A negative integer takes ten bytes, as protobuf requires.
    AppendVarint(packed, std::is_signed_v<T> ? static_cast<uint64_t>(static_cast<int64_t>(value))
                                             : static_cast<uint64_t>(value));
  }
  if (count) AppendBytesField(out, field, packed);
}

Status AppendTexts(std::string& out, const WireTensor& tensor) {
  std::string_view rest(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  while (!rest.empty()) {
    uint32_t length = 0;
    if (rest.size() < sizeof length)
      return Status(Code::kInternal, StrCat("output '", tensor.name, "' is damaged"));
    std::memcpy(&length, rest.data(), sizeof length);
    rest.remove_prefix(sizeof length);
    if (length > rest.size()) return Status(Code::kInternal, StrCat("output '", tensor.name, "' is damaged"));
    AppendBytesField(out, 8, rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return {};
}

// Returns the field of a list whose packed form is the tensor's bytes, or 0.
uint32_t RawField(DType dtype) {
  return dtype == DType::kF32 ? 5 : dtype == DType::kF64 ? 6 : dtype == DType::kBool ? 11 : 0;
}

Status AppendValues(std::string& out, const WireTensor& tensor) {
  const Buffer& bytes = tensor.bytes;
  switch (tensor.dtype) {
    case DType::kI32:
      return AppendPacked<int32_t>(out, 7, bytes), Status();
    case DType::kI16:
      return AppendPacked<int16_t>(out, 7, bytes), Status();
    case DType::kI8:
      return AppendPacked<int8_t>(out, 7, bytes), Status();
    case DType::kU16:
      return AppendPacked<uint16_t>(out, 7, bytes), Status();
    case DType::kU8:
      return AppendPacked<uint8_t>(out, 7, bytes), Status();
    case DType::kI64:
      return AppendPacked<int64_t>(out, 10, bytes), Status();
    case DType::kF16:
    case DType::kBF16:
      return AppendPacked<uint16_t>(out, 13, bytes), Status();
    case DType::kU32:
      return AppendPacked<uint32_t>(out, 16, bytes), Status();
    case DType::kU64:
      return AppendPacked<uint64_t>(out, 17, bytes), Status();
    case DType::kString:
      return AppendTexts(out, tensor);
    default:
      return Unsupported("output '", tensor.name, "' has a type that TensorFlow does not have");
  }
}

std::string ShapeOf(const Dims& dims) {
  std::string shape;
  for (const int64_t dim : dims) {
    std::string size;
    if (dim) AppendVarintField(size, 1, static_cast<uint64_t>(dim));
    AppendBytesField(shape, 2, size);
  }
  return shape;
}

size_t HeaderSize(uint32_t field, uint64_t bytes) {
  return VarintSize(uint64_t{field} << 3) + VarintSize(bytes);
}

}  // namespace

Status AppendTensorEntry(OutMessage& out, uint32_t field, const WireTensor& tensor) {
  const auto count = CheckedCount(tensor.dims, tensor.dtype);
  if (!count || (tensor.dtype != DType::kString &&
                 BytesOf(tensor.dtype, static_cast<size_t>(*count)) != tensor.bytes.size()))
    return Status(Code::kInternal,
                  StrCat("output '", tensor.name, "' has ", tensor.bytes.size(),
                         " bytes, which do not match its shape [", Join(tensor.dims, ","), "]"));
  const uint32_t raw = tensor.bytes.size() ? RawField(tensor.dtype) : 0;
  std::string head;
  AppendVarintField(head, 1, static_cast<uint64_t>(NumberOfType(tensor.dtype)));
  AppendBytesField(head, 2, ShapeOf(tensor.dims));
  if (raw)
    AppendBytesHeader(head, raw, tensor.bytes.size());
  else if (tensor.bytes.size())
    TERN_TRY(AppendValues(head, tensor));
  const size_t value = head.size() + (raw ? tensor.bytes.size() : 0);
  const size_t key = HeaderSize(1, tensor.name.size()) + tensor.name.size();
  AppendBytesHeader(out.head, field, key + HeaderSize(2, value) + value);
  AppendBytesField(out.head, 1, tensor.name);
  AppendBytesHeader(out.head, 2, value);
  out.head += head;
  if (raw) out.Add(tensor.bytes);
  return {};
}

}  // namespace tern::server::tfs
