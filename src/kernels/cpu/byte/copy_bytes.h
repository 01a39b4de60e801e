// Copies of 8-bit rows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/dtype.h"

namespace tern::cpu {

// Kernels multiply u8. An i8 x becomes u8 by flipping its highest bit, which adds 128.
inline uint8_t FlipOf(DType x) { return x == DType::kI8 ? 0x80 : 0; }

// Copies 8-bit elements for tiles that read elements of `width` bytes, 1 or 2.
struct ByteCopier {
  uint8_t flip;  // these bits are flipped
  int width;

  void Copy(const uint8_t* from, int64_t count, uint8_t* to) const;
  void Fill(uint8_t* to, int64_t count, uint8_t value) const;  // `value` is not flipped
};

// Copies `count` bytes and flips the bits of `flip` in each.
inline void CopyBytes(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  if (!flip) {
    if (count > 0) std::memcpy(to, from, static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ flip;
}

inline void ByteCopier::Copy(const uint8_t* from, int64_t count, uint8_t* to) const {
  if (width == 1) return CopyBytes(from, count, flip, to);
  auto* wide = reinterpret_cast<uint16_t*>(to);
  for (int64_t i = 0; i < count; ++i) wide[i] = from[i] ^ flip;
}

inline void ByteCopier::Fill(uint8_t* to, int64_t count, uint8_t value) const {
  if (count <= 0) return;
  if (width == 1)
    std::memset(to, value, static_cast<size_t>(count));
  else
    std::fill_n(reinterpret_cast<uint16_t*>(to), count, value);
}

}  // namespace tern::cpu
