#include "kernels/cpu/resize/resize.h"

#include <algorithm>

#include "kernels/cpu/conv/depthwise_simd.h"
#include "kernels/cpu/resize/resize_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMaxBlendTaps = 16;  // maximum taps that one call of blend adds

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

// Computes elements [begin, end) of y if the last axis is resized.
void PickElements(const AxisTaps& axis, const float* x, float* y, int64_t begin, int64_t end) {
  while (begin < end) {
    const int64_t row = begin / axis.output, first = begin % axis.output,
                  n = std::min(end - begin, axis.output - first);
    ResizeSimd().pick(x + row * axis.input, axis.column_positions.data() + first,
                      axis.column_weights.data() + first, axis.taps, axis.output, y + begin, n);
    begin += n;
  }
}

}  // namespace

void AxisTaps::SetColumns() {
  const auto size = static_cast<size_t>(output), count = static_cast<size_t>(taps);
  column_positions.resize(positions.size());
  column_weights.resize(weights.size());
  for (size_t i = 0; i < size; ++i)
    for (size_t t = 0; t < count; ++t) {
      column_positions[t * size + i] = static_cast<int32_t>(positions[i * count + t]);
      column_weights[t * size + i] = weights[i * count + t];
    }
}

void ResampleF32(const AxisTaps& axis, int64_t outer, int64_t inner, const float* x, float* y,
                 const Workers& workers) {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, inner * axis.taps));
  workers.ParallelFor(outer * axis.output, grain, [&](int64_t begin, int64_t end) {
    if (inner == 1) return PickElements(axis, x, y, begin, end);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % axis.output * axis.taps;
      const float* from = x + i / axis.output * axis.input * inner;
      const int64_t* positions = axis.positions.data() + first;
      const float* weights = axis.weights.data() + first;
      BlendRows(from, positions, weights, axis.taps, y + i * inner, inner);
    }
  });
}

}  // namespace tern::cpu
