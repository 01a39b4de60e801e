#include "kernels/cpu/gemm/strassen_simd.h"

#include "kernels/cpu/simd/magnitude-inl.h"
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Returns the largest magnitude of a row whose two halves are at `left` and `right`, as the bits of a float
// (magnitude-inl.h).
int32_t Largest(const float* left, const float* right, int64_t columns) {
  Ints lane_largest{};
  EachVector(columns, [&](int64_t i, auto load, auto) {
    lane_largest = Larger(lane_largest, Larger(MagnitudesOf(load(left + i)), MagnitudesOf(load(right + i))));
  });
  int32_t largest = 0;
  for (int i = 0; i < kLanes<int32_t>; ++i) largest = MaxOf(largest, static_cast<int32_t>(lane_largest[i]));
  return largest;
}

bool SimilarMagnitude(const StrassenSums& in) {
  constexpr int32_t kTooLarge = (127 + 124) << 23, kMax = 5 << 23;
  for (int64_t r = 0; r < in.rows; ++r) {
    const int64_t row = r * in.a_row;
    const int32_t upper = Largest(in.a11 + row, in.a12 + row, in.columns);
    if (upper >= kTooLarge) return false;
    if (r >= in.lower) continue;
    const int32_t lower = Largest(in.a21 + row, in.a22 + row, in.columns);
    if (lower >= kTooLarge || upper - lower > kMax || lower - upper > kMax) return false;
  }
  return true;
}

void Sums(const StrassenSums& in) {
  for (int64_t r = 0; r < in.rows; ++r) {
    const bool lower = r < in.lower;
    const int64_t row = r * in.a_row;
    float *s1 = in.s + r * in.step, *s2 = s1 + in.matrix, *s3 = s2 + in.matrix, *s4 = s3 + in.matrix;
    EachVector(in.columns, [&](int64_t i, auto load, auto store) {
      const Floats a11 = load(in.a11 + row + i), a12 = load(in.a12 + row + i);
      const Floats a21 = lower ? load(in.a21 + row + i) : Floats{};
      const Floats a22 = lower ? load(in.a22 + row + i) : Floats{};
      const Floats x1 = a21 + a22, x2 = x1 - a11;
      store(s1 + i, x1);
      store(s2 + i, x2);
      store(s3 + i, a11 - a21);
      store(s4 + i, a12 - x2);
    });
  }
}

void Combine(const StrassenCombine& in) {
  for (int64_t r = 0; r < in.rows; ++r) {
    float* u = in.u + r * in.step;
    const float *v = in.v + r * in.step, *w = in.w + r * in.step;
    float* c = in.c + r * in.c_row;
    const bool lower = r < in.lower;
    EachVector(in.columns, [&](int64_t i, auto load, auto store) {
      const Floats add = load(w + i);
      store(u + i, load(u + i) + add);
      if (!lower) return;
      Floats sum = load(v + i) + add;
      if (in.accumulate) sum += load(c + i);
      if (in.bias) sum += load(in.bias + i);
      if (in.clip) sum = AtMost(AtLeast(sum, in.low), in.high);
      store(c + i, sum);
    });
  }
}

void Weights(const StrassenWeights& in) {
  EachVector(in.count, [&](int64_t i, auto load, auto store) {
    const Floats b12 = load(in.b12 + i), b22 = load(in.b22 + i);
    const Floats t1 = b12 - load(in.b11 + i), t2 = b22 - t1;
    store(in.t + i, load(in.b21 + i) - t2);
    store(in.t + in.step + i, t1);
    store(in.t + 2 * in.step + i, t2);
    store(in.t + 3 * in.step + i, b22 - b12);
  });
}

void PanelLargest(const float* panel, int64_t k, int64_t width, int32_t* columns, int32_t* rows) {
  constexpr int kStep = kLanes<int32_t>;
  for (int64_t j = 0; j < width; j += kStep) {
    Ints column_largest{};
    for (int64_t r = 0; r < k; ++r) {
      const Ints x = MagnitudesOf(LoadVector(panel + r * width + j));
      Ints row;
      __builtin_memcpy(&row, rows + r * kStep, sizeof row);
      row = Larger(row, x);
      __builtin_memcpy(rows + r * kStep, &row, sizeof row);
      column_largest = Larger(column_largest, x);
    }
    __builtin_memcpy(columns + j, &column_largest, sizeof column_largest);
  }
}

}  // namespace

const StrassenTable kStrassenSimd = {SimilarMagnitude, Sums, Combine, Weights, PanelLargest, kLanes<int32_t>};

}  // namespace tern::cpu::TERN_SIMD
