// Inner loops of Eltwise that BinaryTable does not have.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct EltwiseTable {
  // y[i] = sum[i] + factor * x[i]; a null sum counts as 0. y may equal sum or x.
  void (*add_scaled_f32)(const void* sum, const void* x, float factor, void* y, int64_t n);
  void (*add_scaled_f64)(const void* sum, const void* x, float factor, void* y, int64_t n);
};
TERN_SIMD_TABLE(EltwiseTable, EltwiseSimd)

}  // namespace tern::cpu
