// The inner loop of resampling along an axis that is not the last.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct ResizeTable {
  // y[i] = the sum over t of weights[t] * x[t][i], for i in [0, n).
  void (*blend)(const float* const* x, const float* weights, int64_t taps, float* y, int64_t n);
};
TERN_SIMD_TABLE(ResizeTable, ResizeSimd)

}  // namespace tern::cpu
