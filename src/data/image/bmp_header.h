// The header and palette of a BMP file.
#pragma once
#include <array>
#include <vector>

#include "data/image/formats.h"

namespace tern::data {

enum class BmpCompression : uint32_t { kRaw = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3, kAlphaBitfields = 6 };

struct BmpHeader {
  uint64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0;
  BmpCompression compression = BmpCompression::kRaw;
  std::array<uint32_t, 3> masks{};              // of red, green and blue, for 16 and 32 bits
  std::vector<std::array<uint8_t, 3>> palette;  // 256 entries in RGB; those that the file lacks are black
  size_t pixels_at = 0;                         // position of the pixels in the file
};

// Fails if a number is damaged or describes a picture that is not supported.
Result<BmpHeader> ReadBmpHeader(std::string_view bytes);

}  // namespace tern::data
