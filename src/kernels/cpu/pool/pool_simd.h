// The inner loop of max pooling.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct PoolTable {
  // Sets y[i] to the larger of y[i] and x[i * stride]. NaN propagates.
  void (*max_row)(const float* x, int64_t stride, float* y, int64_t n);
};
TERN_SIMD_TABLE(PoolTable, PoolSimd)

}  // namespace tern::cpu
