// The inner loops of resampling: along an axis that is not the last (blend), and along the last (pick).
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct ResizeTable {
  // y[i] = the sum over t of weights[t] * x[t][i], for i in [0, n).
  void (*blend)(const float* const* x, const float* weights, int64_t taps, float* y, int64_t n);
  // y[i] = the sum over t of weights[t * step + i] * x[positions[t * step + i]], for i in [0, n). Elements of
  // x with weight 0 do not count, even if they are NaN or infinite.
  void (*pick)(const float* x, const int32_t* positions, const float* weights, int64_t taps, int64_t step,
               float* y, int64_t n);
};
TERN_SIMD_TABLE(ResizeTable, ResizeSimd)

}  // namespace tern::cpu
