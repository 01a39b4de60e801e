// What tests of kernels in bf16 expect of rounding.
#pragma once
#include <cstdint>
#include <cstring>

namespace tern::cpu {

// To nearest even; not for NaN.
inline float RoundedToBf16(float v) {
  uint32_t bits;
  std::memcpy(&bits, &v, 4);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
  std::memcpy(&v, &bits, 4);
  return v;
}

}  // namespace tern::cpu
