// Requantizes rows of integers, stored as floats, to 8 bits.
#pragma once
#include "base/dtype.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// The range of an i8 or u8 result. low and high are relative to the zero point.
struct ByteRange {
  DType type = DType::kU8;
  float zero = 0, low = 0, high = 255;
};

// Contiguous elements of an i8 or u8 tensor.
struct ByteElements {
  DType type = DType::kU8;
  const void* data = nullptr;
};

struct IntegerTable {
  // y = round(clamp((sums + bias) * multiplier)) + zero. clamp limits to [low, high]. For NaN, y is the zero
  // point.
  void (*rescale)(const ByteRange& to, const float* sums, int32_t bias, float multiplier, void* y, int64_t n);
  // Same as `rescale`, but with one bias and multiplier per element.
  void (*rescale_each)(const ByteRange& to, const float* sums, const int32_t* bias, const float* multiplier,
                       void* y, int64_t n);
  // y = round(clamp(a * a_ratio + (b * b_ratio + offset))), computed with two fused multiply-adds. Here and
  // in `product`, clamp limits to [low + zero, high + zero].
  void (*sum)(const ByteRange& to, const float* a, float a_ratio, const float* b, float b_ratio, float offset,
              void* y, int64_t n);
  // y = round(clamp(a * b * multiplier + zero)).
  void (*product)(const ByteRange& to, const float* a, const float* b, float multiplier, void* y, int64_t n);
  // sum_bytes and product_bytes compute the same from 8-bit elements. The absolute values of ratios, offset
  // and multiplier must be less than kMaxByteRatio.
  void (*sum_bytes)(const ByteRange& to, const ByteElements& a, float a_ratio, const ByteElements& b,
                    float b_ratio, float offset, void* y, int64_t n);
  // y = round(clamp((a - a_zero) * (b - b_zero) * multiplier + zero)).
  void (*product_bytes)(const ByteRange& to, const ByteElements& a, float a_zero, const ByteElements& b,
                        float b_zero, float multiplier, void* y, int64_t n);
  // Returns the sum of i8 or u8 elements.
  int32_t (*total)(DType type, const void* x, int64_t n);  // n must be at most 2^23
};
TERN_SIMD_TABLE(IntegerTable, IntegerSimd)
constexpr float kMaxByteRatio = 1e30f;

}  // namespace tern::cpu
