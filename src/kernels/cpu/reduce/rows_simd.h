// Inner loops that reduce a row of f32 to one number, or combine rows elementwise.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

enum class RowSum : int { kSum, kL1, kSquare, kMax, kMin, kProduct };

struct RowTable {
  // Reduces n elements. The maximum of 0 elements is -infinity, and the minimum is infinity. NaN propagates.
  float (*reduce)(RowSum kind, const float* x, int64_t n);
  // Combines y[i] with x[i], x[i + step], …, x[i + (rows - 1) * step] for i < n. Sums are computed in blocks,
  // so that rounding errors stay small for up to a few hundred rows.
  void (*join)(RowSum kind, const float* x, int64_t rows, int64_t step, float* y, int64_t n);
  // Returns the sum of exp(x[i] - top).
  float (*exp_sum)(const float* x, float top, int64_t n);
  // y[i] += exp(x[i] - top[i])
  void (*join_exp)(const float* x, const float* top, float* y, int64_t n);
};
TERN_SIMD_TABLE(RowTable, RowSimd)

}  // namespace tern::cpu
