// The scale and zero point of dynamic quantization to u8.
#pragma once
#include <algorithm>
#include <cmath>

namespace tern {

struct DynamicRange {
  float scale, zero;
};
// low <= 0 <= high. If high - low is not finite, the scale is infinite and the zero point is 0.
inline DynamicRange DynamicRangeOf(float low, float high) {
  const float span = (high - low) / 255.0f, scale = span == 0 ? 1 : span;
  const float zero = std::nearbyint((0.0f - low) / scale);
  return {scale, std::isnan(zero) ? 0 : std::clamp(zero, 0.0f, 255.0f)};
}

}  // namespace tern
