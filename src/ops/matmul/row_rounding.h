// Rounding of rows to 8 bits, for dynamic quantization. Kernels use the same f32 arithmetic, so that they
// round to the same integers.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tern {

// A row x is represented by the integers round(x * inverse), which are in [-127, 127], and by `scale`.
struct RowScale {
  float scale = 0, inverse = 0;
};

// The largest magnitude of the row becomes 127. A row of zeros, or of numbers that are too small for a
// finite inverse, becomes zeros. A row that contains NaN or an infinity has the scale NaN, so that all
// products with it are NaN.
inline RowScale RowScaleFor(float largest) {
  if (!std::isfinite(largest)) return {NAN, 0};
  const float inverse = 127 / largest;
  return std::isfinite(inverse) ? RowScale{largest / 127, inverse} : RowScale{};
}

inline RowScale RowScaleOf(const float* row, int64_t count) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(row[i])) return RowScaleFor(NAN);
    largest = std::max(largest, std::fabs(row[i]));
  }
  return RowScaleFor(largest);
}

inline int32_t RoundedTo8Bits(float x, const RowScale& scale) {
  const float v = std::nearbyint(x * scale.inverse);
  return std::isnan(v) ? 0 : static_cast<int32_t>(std::clamp(v, -127.0f, 127.0f));
}

}  // namespace tern
