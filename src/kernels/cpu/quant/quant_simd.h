// Quantizes and dequantizes rows.
#pragma once
#include "base/dtype.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct QuantTable {
  // y[i] = saturate(round(x[i] / scale) + zero). If x[i] is NaN, y[i] is `zero`. `to` is i8, u8, i16 or u16.
  void (*quantize)(DType to, const float* x, float scale, float zero, void* y, int64_t n);
  // y[i] = (x[i] - zero) * scale. `from` is i8, u8, i16, u16 or i32.
  void (*dequantize)(DType from, const void* x, float zero, float scale, float* y, int64_t n);
  // Lowers *low to the minimum of x and raises *high to the maximum. NaN is ignored.
  void (*range)(const float* x, int64_t n, float* low, float* high);
  // y[i] = table[x[i]]. The table has 256 elements.
  void (*lookup)(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n);
};
TERN_SIMD_TABLE(QuantTable, QuantSimd)

}  // namespace tern::cpu
