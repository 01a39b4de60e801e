// The variant of Lempel-Ziv-Welch compression that GIF uses.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

// Decodes exactly `count` palette indices. `data` are the bytes of the sub-blocks, joined. `bits` is the
// number of bits of an index, 1 to 8. Data after the last index is ignored. Fails if a code is unknown or if
// the data ends too early.
Result<std::vector<uint8_t>> DecodeGifLzw(std::string_view data, int bits, size_t count);

}  // namespace tern::data
