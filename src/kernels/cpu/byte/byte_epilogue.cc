#include "kernels/cpu/byte/byte_epilogue.h"

#include <algorithm>
#include <bit>
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

ByteSaturation SaturationOf(const ByteRange& to) {
  const int flip = to.type == DType::kI8 ? 128 : 0, zero = static_cast<int>(to.zero) + flip;
  return {static_cast<int16_t>(zero), static_cast<uint8_t>(static_cast<int>(to.low) + zero),
          static_cast<uint8_t>(static_cast<int>(to.high) + zero), static_cast<uint8_t>(flip)};
}

bool RoundsInRegisters(const ByteEpilogue& e, int64_t columns, int64_t depth) {
  if (e.output != ByteOutput::kBytes || e.residual_mode == ByteResidual::kAfterRounding) return false;
  // Compares floats by their bits, which compilers vectorize.
  int32_t scale_bits = 0, bias = 0;
  for (int64_t i = 0; i < columns; ++i)
    scale_bits = std::max(scale_bits, std::bit_cast<int32_t>(e.scale[i]) & 0x7fffffff);
  for (int64_t i = 0; e.bias && i < columns; ++i)
    bias = std::max(bias, e.bias[i] < 0 ? ~e.bias[i] : e.bias[i]);
  const double sum = 255.0 * 128 * static_cast<double>(depth) + bias + 1.0,
               scale = static_cast<double>(std::bit_cast<float>(scale_bits));
  const double residual =
      e.residual_mode == ByteResidual::kNone ? 0 : 512 * std::abs(static_cast<double>(e.residual_ratio));
  return sum * scale + residual < 2147480000.0;
}

bool FitsI8(const ByteWeights& w, int64_t row, int64_t column, int64_t rows, int64_t columns) {
  if (w.type == DType::kI8 && !w.zero) return true;
  return w.type == DType::kI8 ? Fits<int8_t>(w, row, column, rows, columns)
                              : Fits<uint8_t>(w, row, column, rows, columns);
}

}  // namespace tern::cpu
