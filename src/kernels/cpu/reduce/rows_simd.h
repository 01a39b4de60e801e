// Loops over rows of f32 that give one number each, or join rows.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

enum class RowSum : int { kSum, kL1, kSquare, kMax, kMin, kProduct };

struct RowTable {
  // One number from n. Extremes of none are infinite; NaN wins.
  float (*reduce)(RowSum kind, const float* x, int64_t n);
  // y[i] = y[i] joined with x[i], x[i + step], … of so many rows. Sums are cascaded: rounding errors stay
  // small for up to some hundred rows.
  void (*join)(RowSum kind, const float* x, int64_t rows, int64_t step, float* y, int64_t n);
  // Sum of exp(x[i] - top)
  float (*exp_sum)(const float* x, float top, int64_t n);
  // y[i] += exp(x[i] - top[i])
  void (*join_exp)(const float* x, const float* top, float* y, int64_t n);
};
TERN_SIMD_TABLE(RowTable, RowSimd)

}  // namespace tern::cpu
