// Rounds and converts arrays of bf16 in tests.
#pragma once
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace tern::cpu {

// Rounds to the nearest bf16, ties to even. NaN stays NaN.
inline float RoundedToBf16(float v) { return BFloatToFloat(FloatToBFloat(v)); }

inline std::vector<uint16_t> ToBf16(const std::vector<float>& from) {
  std::vector<uint16_t> to;
  for (float v : from) to.push_back(FloatToBFloat(v));
  return to;
}

inline std::vector<float> FromBf16(const std::vector<uint16_t>& from) {
  std::vector<float> to;
  for (uint16_t v : from) to.push_back(BFloatToFloat(v));
  return to;
}

// Casts the pointer and leaves the bf16 bits as they are. Kernels have float* arguments for bf16 arrays too.
inline const float* AsFloats(const std::vector<uint16_t>& bf16) {
  return reinterpret_cast<const float*>(bf16.data());
}
inline float* AsFloats(std::vector<uint16_t>& bf16) { return reinterpret_cast<float*>(bf16.data()); }

}  // namespace tern::cpu
