// The inner loop of depthwise convolutions over [N, C, spatial…].
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct DepthwiseTable {
  // y[i] += sum over t of w[t] * x[i * stride + t * dilation], for i in [0, n).
  void (*add_row)(const float* x, int64_t stride, const float* w, int64_t taps, int64_t dilation, float* y,
                  int64_t n);
};
TERN_SIMD_TABLE(DepthwiseTable, DepthwiseSimd)

}  // namespace tern::cpu
