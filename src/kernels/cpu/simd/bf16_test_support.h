// bf16 in tests: what rounding to it gives, and arrays of it.
#pragma once
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace tern::cpu {

// To nearest even; NaN stays NaN.
inline float RoundedToBf16(float v) { return BFloatToFloat(FloatToBFloat(v)); }

inline std::vector<uint16_t> Narrowed(const std::vector<float>& from) {
  std::vector<uint16_t> to;
  for (float v : from) to.push_back(FloatToBFloat(v));
  return to;
}

inline std::vector<float> Widened(const std::vector<uint16_t>& from) {
  std::vector<float> to;
  for (uint16_t v : from) to.push_back(BFloatToFloat(v));
  return to;
}

// As kernels take them.
inline const float* AsFloats(const std::vector<uint16_t>& narrow) {
  return reinterpret_cast<const float*>(narrow.data());
}
inline float* AsFloats(std::vector<uint16_t>& narrow) { return reinterpret_cast<float*>(narrow.data()); }

}  // namespace tern::cpu
