// The additions of Strassen's algorithm, see strassen.h.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// The quarters of a. a11 and a12 have `rows` rows. a21 and a22 have `lower` rows, which is the same number or
// one less. A missing row counts as zeros. Each sum is `rows` x `columns` with row stride `step`; sums are
// `matrix` floats from each other:
//   s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2.
struct StrassenSums {
  const float *a11 = nullptr, *a12 = nullptr, *a21 = nullptr, *a22 = nullptr;
  int64_t a_row = 0;
  int64_t rows = 0, lower = 0, columns = 0;
  float* s = nullptr;
  int64_t step = 0, matrix = 0;
};

// u += w for `rows` rows; c = clip(c? + v + w + bias?) for `lower` rows.
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

// Writes -t4, t1, t2, t3, each `count` floats, `step` floats from each other: t1 = b12 - b11, t2 = b22 - t1,
// t3 = b22 - b12, t4 = t2 - b21.
struct StrassenWeights {
  const float *b11 = nullptr, *b12 = nullptr, *b21 = nullptr, *b22 = nullptr;
  int64_t count = 0;
  float* t = nullptr;
  int64_t step = 0;
};

struct StrassenTable {
  // Returns whether rows that are added to each other are below 2^124, so that their sums are finite, and
  // have similar magnitudes. The largest element of one row may be about 2^5 times that of the other.
  // Rounding errors of a row are relative to the larger row of the pair.
  bool (*similar_magnitude)(const StrassenSums& in);
  void (*sums)(const StrassenSums& in);
  void (*combine)(const StrassenCombine& in);
  void (*weights)(const StrassenWeights& in);
  // Largest magnitudes, as the bits of absolute values, of each column and each row of a panel [k][width].
  // `rows` holds `lanes` partial maxima per row and is updated from panel to panel.
  void (*panel_largest)(const float* panel, int64_t k, int64_t width, int32_t* columns, int32_t* rows);
  int lanes;
};
TERN_SIMD_TABLE(StrassenTable, StrassenSimd)

}  // namespace tern::cpu
