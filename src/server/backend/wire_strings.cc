#include "server/backend/wire_strings.h"

#include <cstring>
#include <limits>

namespace tern::server {
namespace {

uint32_t LengthOf(const std::string& text) {
  return static_cast<uint32_t>(std::min<size_t>(text.size(), std::numeric_limits<uint32_t>::max()));
}

}  // namespace

Result<Tensor> DecodeStrings(const char* name, const void* data, size_t bytes, Dims dims) {
  const auto count = CheckedCount(dims, DType::kString);
  // Each element has at least 4 bytes for its length. This check refuses a hostile count before memory is
  // allocated.
  if (!count || static_cast<uint64_t>(*count) > bytes / 4)
    return InvalidArgument("input '", name, "' has dims [", Join(dims, ","), "], but only ", bytes,
                           " bytes for its strings");
  Tensor out(DType::kString, std::move(dims));
  const char* at = static_cast<const char*>(data);
  size_t left = bytes;
  for (int64_t i = 0; i < *count; ++i) {
    uint32_t length = 0;
    if (left < 4) return InvalidArgument("input '", name, "': string ", i, " of ", *count, " is missing");
    std::memcpy(&length, at, 4);
    at += 4;
    left -= 4;
    if (length > left)
      return InvalidArgument("input '", name, "': string ", i, " has ", length, " bytes, but ", left,
                             " are left");
    out.data<std::string>()[i].assign(at, length);
    at += length;
    left -= length;
  }
  if (left) return InvalidArgument("input '", name, "' has ", left, " bytes after its last string");
  return out;
}

size_t EncodedBytes(const Tensor& tensor) {
  size_t bytes = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) bytes += 4 + LengthOf(tensor.data<std::string>()[i]);
  return bytes;
}

void EncodeStrings(const Tensor& tensor, std::byte* out) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const std::string& text = tensor.data<std::string>()[i];
    const uint32_t length = LengthOf(text);
    std::memcpy(out, &length, 4);
    if (length) std::memcpy(out + 4, text.data(), length);
    out += 4 + length;
  }
}

}  // namespace tern::server
