#include "kernels/cpu/byte/byte_epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tern::cpu {
namespace {

template <class T>
bool Fits(const ByteWeights& w, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  const auto* data = static_cast<const T*>(w.data);
  const auto* zero = static_cast<const T*>(w.zero);
  for (int64_t j = 0; j < columns; ++j) {
    const int z = zero ? zero[w.zero_per_column ? j : 0] : 0;
    int low = 0, high = 0;
    for (int64_t i = 0; i < rows; ++i) {
      const int v = data[i * row + j * column] - z;
      low = std::min(low, v), high = std::max(high, v);
    }
    if (low < -128 || high > 127) return false;
  }
  return true;
}

}  // namespace

float FiniteScale(float scale) {
  if (std::isnan(scale)) return 0;
  constexpr float kMax = std::numeric_limits<float>::max();
  return std::clamp(scale, -kMax, kMax);
}

bool FitsI8(const ByteWeights& w, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  if (w.type == DType::kI8 && !w.zero) return true;
  return w.type == DType::kI8 ? Fits<int8_t>(w, row, column, rows, columns)
                              : Fits<uint8_t>(w, row, column, rows, columns);
}

}  // namespace tern::cpu
