// The inner loops of pooling over channels-last images, vectorized along channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct PoolNhwcTable {
  // Sets y[c] to the maximum of x[i][c] for i < count. The result is NaN if an element is NaN, and -infinity
  // if count is 0.
  void (*max)(const float* const* x, int64_t count, int64_t channels, float* y);
  // Sets y[c] to the sum of x[i][c] for i < count, divided by `divisor`.
  void (*sum)(const float* const* x, int64_t count, int64_t channels, float divisor, float* y);
};
TERN_SIMD_TABLE(PoolNhwcTable, PoolNhwcSimd)

}  // namespace tern::cpu
