// Inner loops of normalisation. y may equal x.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct LayerNormParams {
  int64_t rows = 0, n = 0;
  float epsilon = 0;
  const float *scale = nullptr, *bias = nullptr;  // n elements each, or null
  float *mean = nullptr, *inv_std = nullptr;      // results, one element per row each, or null
};

struct Moments {
  float mean, variance;
};

struct NormTable {
  // Normalize rows [begin, end). rms ignores bias, mean and inv_std.
  void (*layer)(const LayerNormParams& p, const float* x, float* y, int64_t begin, int64_t end);
  void (*rms)(const LayerNormParams& p, const float* x, float* y, int64_t begin, int64_t end);
  Moments (*moments)(const float* x, int64_t n);
  // Computes y[i] = (x[i] - mean) * factor + shift.
  void (*affine)(const float* x, float mean, float factor, float shift, float* y, int64_t n);
  // Computes y[i] = x[i] * factor[i] + shift[i] for each row. shift may be null.
  void (*columns)(const float* x, const float* factor, const float* shift, float* y, int64_t rows, int64_t n);
};
TERN_SIMD_TABLE(NormTable, NormSimd)

}  // namespace tern::cpu
