// Loops over rows of f32 that give one number, or need one: sums, extremes, softmax, normalisation.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

enum class RowSum : int { kSum, kL1, kSquare, kMax, kMin, kProduct };

struct RowTable {
  // One number from n. Extremes of none are infinite; NaN wins.
  float (*reduce)(RowSum kind, const float* x, int64_t n);
  // y[i] = y[i] joined with x[i].
  void (*join)(RowSum kind, const float* x, float* y, int64_t n);
  // y[i] = exp(x[i] - top); their sum. y may be x.
  float (*exp_sum)(const float* x, float top, float* y, int64_t n);
  // The same without writing.
  float (*exp_sum_only)(const float* x, float top, int64_t n);
  // y[i] += exp(x[i] - top[i])
  void (*join_exp)(const float* x, const float* top, float* y, int64_t n);
  // Sum of (x[i] - mean)^2
  float (*spread)(const float* x, float mean, int64_t n);
  // y[i] = x[i] * a + b
  void (*affine)(const float* x, float a, float b, float* y, int64_t n);
  // y[i] = (x[i] - mean) * factor * scale[i] + bias[i]; scale and bias may be null.
  void (*normalize)(const float* x, float mean, float factor, const float* scale, const float* bias, float* y,
                    int64_t n);
};
TERN_SIMD_TABLE(RowTable, RowSimd)

}  // namespace tern::cpu
