// Copies of 8-bit rows.
#pragma once
#include <cstdint>
#include <cstring>

#include "base/dtype.h"

namespace tern::cpu {

// Kernels multiply u8. An i8 x becomes u8 by flipping its highest bit, which adds 128.
inline uint8_t FlipOf(DType x) { return x == DType::kI8 ? 0x80 : 0; }

// Copies `count` bytes and flips the bits of `flip` in each.
inline void CopyBytes(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  if (!flip) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
}

}  // namespace tern::cpu
