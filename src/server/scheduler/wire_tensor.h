// Sizes of tensors in wire form, computed without overflow and without reading beyond their bytes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// The product of dims; nullopt if a dim is negative or the product exceeds int64.
std::optional<int64_t> ElementCount(const Dims& dims);
// Bytes of one element; 0 for BYTES and for types without a wire form.
size_t ElementBytes(DType dtype);
// Bytes of a tensor whose elements have a fixed size; nullopt on overflow. Not for BYTES.
std::optional<uint64_t> FixedBytes(DType dtype, const Dims& dims);

// A walk over BYTES elements: where it ended, and after how many elements.
struct StringWalk {
  size_t offset = 0;
  int64_t elements = 0;
};
// Skips at most `limit` complete elements from `offset`.
StringWalk SkipStrings(const Buffer& bytes, size_t offset, int64_t limit);

// Byte offsets of the items along the first dim, and the end: items + 1 numbers. Fails if the bytes do not
// fit dims.
Result<std::vector<size_t>> ItemOffsets(const WireTensor& tensor);

std::string DimsText(const Dims& dims);  // "[1,-1,16]"

}  // namespace tern::server
