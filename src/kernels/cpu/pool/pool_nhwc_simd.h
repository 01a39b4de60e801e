// The inner loops of pooling over channels-last images: vectors along channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct PoolNhwcTable {
  // y[c] = the maximum of x[i][c] for i < count; NaN if one is NaN, -infinity if count is 0.
  void (*max)(const float* const* x, int64_t count, int64_t channels, float* y);
  // y[c] = (the sum of x[i][c]) / divisor.
  void (*sum)(const float* const* x, int64_t count, int64_t channels, float divisor, float* y);
};
TERN_SIMD_TABLE(PoolNhwcTable, PoolNhwcSimd)

}  // namespace tern::cpu
