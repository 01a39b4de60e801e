// Rounding of rows to 8 bits, compiled per instruction set. The results are those of
// ops/matmul/row_rounding.h at every level.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct RowsTable {
  // Returns the largest magnitude, or an infinity or NaN if an element is not finite.
  float (*largest)(const float* x, int64_t n);
  // q = round(x * inverse), ties to even, clamped to [-127, 127]. NaN becomes 0.
  void (*to_bytes)(const float* x, int64_t n, float inverse, int8_t* q);
  // y = q * scale.
  void (*to_floats)(const int8_t* q, int64_t n, float scale, float* y);
};
TERN_SIMD_TABLE(RowsTable, RowsSimd)

}  // namespace tern::cpu
