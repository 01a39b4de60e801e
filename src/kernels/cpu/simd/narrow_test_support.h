// Arrays of bf16 for tests.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tern::cpu {

// To nearest even, as the upper halves of floats; NaN stays NaN.
inline std::vector<uint16_t> Narrowed(const std::vector<float>& from) {
  std::vector<uint16_t> to;
  for (float v : from) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    bits = std::isnan(v) ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
    to.push_back(static_cast<uint16_t>(bits >> 16));
  }
  return to;
}

inline std::vector<float> Widened(const std::vector<uint16_t>& from) {
  std::vector<float> to;
  for (uint16_t v : from) {
    const uint32_t bits = static_cast<uint32_t>(v) << 16;
    to.emplace_back();
    std::memcpy(&to.back(), &bits, sizeof bits);
  }
  return to;
}

// As kernels take them.
inline const float* AsFloats(const std::vector<uint16_t>& narrow) {
  return reinterpret_cast<const float*>(narrow.data());
}
inline float* AsFloats(std::vector<uint16_t>& narrow) { return reinterpret_cast<float*>(narrow.data()); }

}  // namespace tern::cpu
