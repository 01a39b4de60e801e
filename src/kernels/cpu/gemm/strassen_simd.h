// The additions of Strassen's algorithm, see strassen.h.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// The quarters of a and their sums. a11 and a12 have `rows` rows. a21 and a22 have `lower` rows, which is the
// same number or one less. A missing row counts as zeros. Each sum is [rows, columns] with row stride `step`.
// The sums start at s, s + matrix, s + 2 * matrix and s + 3 * matrix:
//   s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2.
struct StrassenSums {
  const float *a11 = nullptr, *a12 = nullptr, *a21 = nullptr, *a22 = nullptr;
  int64_t a_row = 0;
  int64_t rows = 0, lower = 0, columns = 0;
  float* s = nullptr;
  int64_t step = 0, matrix = 0;
};

// Describes u += w for `rows` rows, and c = clip(v + w + bias) for `lower` rows. If `accumulate`, the sum
// also includes the old c. bias may be null.
struct StrassenCombine {
  float* u = nullptr;
  const float *v = nullptr, *w = nullptr;
  int64_t step = 0;
  float* c = nullptr;
  int64_t c_row = 0;
  int64_t rows = 0, lower = 0, columns = 0;
  bool accumulate = false;
  const float* bias = nullptr;
  bool clip = false;
  float low = 0, high = 0;
};

// t1 = b12 - b11, t2 = b22 - t1, t3 = b22 - b12, t4 = t2 - b21. Each of these sums has `count` floats.
// `weights` writes -t4 to t, t1 to t + step, t2 to t + 2 * step, and t3 to t + 3 * step.
struct StrassenWeights {
  const float *b11 = nullptr, *b12 = nullptr, *b21 = nullptr, *b22 = nullptr;
  int64_t count = 0;
  float* t = nullptr;
  int64_t step = 0;
};

struct StrassenTable {
  // Returns whether the algorithm may add the rows of these quarters. All magnitudes must be below 2^124, so
  // that sums are finite. If two rows are added, the largest element of one may be at most about 2^5 times
  // that of the other, because rounding errors are relative to the larger row.
  bool (*similar_magnitude)(const StrassenSums& in);
  void (*sums)(const StrassenSums& in);
  void (*combine)(const StrassenCombine& in);
  void (*weights)(const StrassenWeights& in);
  // Computes the largest magnitude of each column and each row of a panel [k][width]. Magnitudes are the bits
  // of a float. `columns` is the result for this panel. `rows` has `lanes` partial maxima per row, and each
  // call updates them.
  void (*panel_largest)(const float* panel, int64_t k, int64_t width, int32_t* columns, int32_t* rows);
  int lanes;
};
TERN_SIMD_TABLE(StrassenTable, StrassenSimd)

}  // namespace tern::cpu
