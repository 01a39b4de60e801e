#include "kernels/cpu/resize/resize.h"

#include <algorithm>

#include "kernels/cpu/conv/depthwise_simd.h"
#include "kernels/cpu/resize/resize_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMaxBlendTaps = 16;  // maximum taps that one call of blend adds

// Computes one output element if the last axis is resized.
float BlendOne(const float* x, const int64_t* positions, const float* weights, int64_t taps) {
  float sum = 0;
  for (int64_t t = 0; t < taps; ++t) sum += weights[t] == 0 ? 0.f : weights[t] * x[positions[t]];
  return sum;
}

// Computes one output row of n elements if an axis before the last is resized. Does not read taps with weight
// 0.
void BlendRows(const float* x, const int64_t* positions, const float* weights, int64_t taps, float* y,
               int64_t n) {
  const float* rows[kMaxBlendTaps];
  float nonzero[kMaxBlendTaps];
  int64_t count = 0;
  for (int64_t t = 0; t < taps && taps <= kMaxBlendTaps; ++t)
    if (weights[t] != 0) rows[count] = x + positions[t] * n, nonzero[count++] = weights[t];
  if (taps <= kMaxBlendTaps) return ResizeSimd().blend(rows, nonzero, count, y, n);
  std::fill(y, y + n, 0.f);
  for (int64_t t = 0; t < taps; ++t)
    if (weights[t] != 0) DepthwiseSimd().add_row(x + positions[t] * n, 1, weights + t, 1, 1, y, n);
}

}  // namespace

void ResampleF32(const AxisTaps& axis, int64_t outer, int64_t inner, const float* x, float* y,
                 const Workers& workers) {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, inner * axis.taps));
  workers.ParallelFor(outer * axis.output, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % axis.output * axis.taps;
      const float* from = x + i / axis.output * axis.input * inner;
      const int64_t* positions = axis.positions.data() + first;
      const float* weights = axis.weights.data() + first;
      if (inner == 1)
        y[i] = BlendOne(from, positions, weights, axis.taps);
      else
        BlendRows(from, positions, weights, axis.taps, y + i * inner, inner);
    }
  });
}

}  // namespace tern::cpu
