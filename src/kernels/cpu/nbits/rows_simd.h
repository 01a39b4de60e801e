// Rounding of rows to 8 bits and back, compiled per instruction set. The results are those of
// ops/matmul/row_rounding.h at every level: no multiplication and addition is fused.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct RowsTable {
  // Returns the largest magnitude, or an infinity or NaN if an element is not finite.
  float (*largest)(const float* x, int64_t n);
  // q = round(x * inverse) ^ flip, ties to even. `inverse` is 0 or at most 127 / largest(x, n), so that
  // rounded numbers are in [-127, 127]. It must be 0 if an element is not finite.
  void (*to_bytes)(const float* x, int64_t n, float inverse, int8_t flip, int8_t* q);
  // y = q * scale.
  void (*to_floats)(const int8_t* q, int64_t n, float scale, float* y);
  // c = c * scale + bias. If `bias` is null, it is omitted.
  void (*rescale)(float* c, int64_t n, float scale, const float* bias);
};
TERN_SIMD_TABLE(RowsTable, RowsSimd)

}  // namespace tern::cpu
