// Computes sizes of tensors in wire form. Checks for overflow, and never reads beyond the bytes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "server/core/message.h"

namespace tern::server {

// Returns the product of dims, or nullopt if a dim is negative or the product exceeds int64.
std::optional<int64_t> ElementCount(const Dims& dims);
// Returns the bytes of one element, or 0 for BYTES and for types without a wire form.
size_t ElementBytes(DType dtype);
// Returns the bytes of a tensor whose elements have a fixed size (not BYTES), or nullopt on overflow and
// for negative dims.
std::optional<uint64_t> FixedBytes(DType dtype, const Dims& dims);

// The result of SkipStrings: the offset behind the last skipped element, and the number of skipped elements.
struct StringWalk {
  size_t offset = 0;
  int64_t elements = 0;
};
// Skips at most `limit` complete elements from `offset`.
StringWalk SkipStrings(const Buffer& bytes, size_t offset, int64_t limit);

// Returns the byte offset of each item along the first dim, followed by the offset of the end. Fails if the
// number of bytes does not match dims.
Result<std::vector<size_t>> ItemOffsets(const WireTensor& tensor);

std::string DimsText(const Dims& dims);  // "[1,-1,16]"

}  // namespace tern::server
