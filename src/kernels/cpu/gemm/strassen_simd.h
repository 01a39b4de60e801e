// The additions of Strassen's scheme.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Quarters of a: a11 and a12 have `rows` rows, a21 and a22 `lower` (as many or one less; zeros then). Sums
// are written `rows` x `columns` each, `step` floats from row to row and `matrix` from one to the next:
//   s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2.
struct StrassenSums {
  const float *a11 = nullptr, *a12 = nullptr, *a21 = nullptr, *a22 = nullptr;
  int64_t a_row = 0;
  int64_t rows = 0, lower = 0, columns = 0;
  float* s = nullptr;
  int64_t step = 0, matrix = 0;
};

// u += w for `rows` rows; c = clip(c? + v + w + bias?) for `lower`.
struct StrassenEnd {
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

// -t4, t1, t2, t3 of `count` numbers each, `step` floats from one to the next: t1 = b12 - b11, t2 = b22 - t1,
// t3 = b22 - b12, t4 = t2 - b21.
struct StrassenWeights {
  const float *b11 = nullptr, *b12 = nullptr, *b21 = nullptr, *b22 = nullptr;
  int64_t count = 0;
  float* t = nullptr;
  int64_t step = 0;
};

struct StrassenTable {
  // Whether rows that are paired are below 2^124, so that their sums are finite, and of like size: the
  // largest of one at most about 2^5 times that of the other. A row rounds relative to the larger one of its
  // pair.
  bool (*alike)(const StrassenSums& in);
  void (*sums)(const StrassenSums& in);
  void (*end)(const StrassenEnd& in);
  void (*weights)(const StrassenWeights& in);
  // The largest absolute values, by their bits, of each column of a panel [k][width], and of each row: of
  // these `lanes` numbers each, which grow from panel to panel.
  void (*panel_largest)(const float* panel, int64_t k, int64_t width, int32_t* columns, int32_t* rows);
  int lanes;
};
TERN_SIMD_TABLE(StrassenTable, StrassenSimd)

}  // namespace tern::cpu
