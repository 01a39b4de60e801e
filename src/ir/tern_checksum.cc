#include <cstring>

#include "ir/tern_file.h"

namespace tern {
namespace {

uint64_t Mix(uint64_t h, uint64_t v) {
  h ^= v * 0x9e3779b97f4a7c15ull;
  h = (h << 31 | h >> 33) * 0xc2b2ae3d27d4eb4full;
  return h;
}

}  // namespace

// Computes four independent lanes, so that the CPU overlaps their multiplications. The speed is a few GB/s.
// The checksum detects accidental damage, but not manipulation.
uint64_t Checksum(const void* data, size_t size) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t lanes[4] = {1, 2, 3, 4};
  size_t left = size;
  for (; left >= 32; left -= 32, p += 32) {
    uint64_t words[4];
    std::memcpy(words, p, 32);
    for (int i = 0; i < 4; ++i) lanes[i] = Mix(lanes[i], words[i]);
  }
  uint64_t h = size;
  for (uint64_t lane : lanes) h = Mix(h, lane);
  for (; left > 0; --left, ++p) h = Mix(h, *p + 1);
  return h ^ h >> 32;
}

}  // namespace tern
