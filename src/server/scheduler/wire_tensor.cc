#include "server/scheduler/wire_tensor.h"

#include <algorithm>
#include <cstring>

namespace tern::server {
namespace {

// Returns the number of elements of one item, which is 0 if any dim after the first is 0.
std::optional<int64_t> ElementsPerItem(const Dims& dims) {
  return ElementCount(Dims(dims.begin() + 1, dims.end()));
}

Status WrongBytes(const WireTensor& tensor) {
  return Status(Code::kInternal, StrCat("tensor '", tensor.name, "' of shape ", DimsText(tensor.dims),
                                        " does not fit its ", tensor.bytes.size(), " bytes"));
}

}  // namespace

std::optional<int64_t> ElementCount(const Dims& dims) {
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; })) return std::nullopt;
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t count = 1;
  for (const int64_t dim : dims)
    if (__builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  return count;
}

size_t ElementBytes(DType dtype) {
  return dtype == DType::kString ? 0 : static_cast<size_t>(BitWidth(dtype)) / 8;
}

std::optional<uint64_t> FixedBytes(DType dtype, const Dims& dims) {
  const auto count = ElementCount(dims);
  uint64_t bytes = 0;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count), ElementBytes(dtype), &bytes))
    return std::nullopt;
  return bytes;
}

StringWalk SkipStrings(const Buffer& bytes, size_t offset, int64_t limit) {
  StringWalk walk{offset, 0};
  while (walk.elements < limit && walk.offset <= bytes.size() &&
         bytes.size() - walk.offset >= sizeof(uint32_t)) {
    uint32_t length = 0;
    std::memcpy(&length, bytes.data() + walk.offset, sizeof(length));
    if (length > bytes.size() - walk.offset - sizeof(length)) break;
    walk.offset += sizeof(length) + length;
    ++walk.elements;
  }
  return walk;
}

Result<std::vector<size_t>> ItemOffsets(const WireTensor& tensor) {
  if (tensor.dims.empty() || tensor.dims[0] < 0) return WrongBytes(tensor);
  const auto per_item = ElementsPerItem(tensor.dims);
  const auto total = ElementCount(tensor.dims);
  if (!per_item || !total) return WrongBytes(tensor);
  // If the items are empty, any first dim matches 0 bytes. A huge one is refused, because an offset per item
  // is stored below.
  if (*total == 0 && tensor.dims[0] > INT32_MAX) return WrongBytes(tensor);
  const bool strings = tensor.dtype == DType::kString;
  if (!strings && FixedBytes(tensor.dtype, tensor.dims) != tensor.bytes.size()) return WrongBytes(tensor);
  if (strings && static_cast<uint64_t>(*total) > tensor.bytes.size() / sizeof(uint32_t))
    return WrongBytes(tensor);
  std::vector<size_t> offsets = {0};
  offsets.reserve(static_cast<size_t>(tensor.dims[0]) + 1);
  for (int64_t i = 0; i < tensor.dims[0]; ++i) {
    if (!strings) {
      offsets.push_back(offsets.back() + static_cast<size_t>(*per_item) * ElementBytes(tensor.dtype));
      continue;
    }
    const StringWalk walk = SkipStrings(tensor.bytes, offsets.back(), *per_item);
    if (walk.elements != *per_item) return WrongBytes(tensor);
    offsets.push_back(walk.offset);
  }
  if (offsets.back() != tensor.bytes.size()) return WrongBytes(tensor);
  return offsets;
}

std::string DimsText(const Dims& dims) { return StrCat("[", Join(dims, ","), "]"); }

}  // namespace tern::server
