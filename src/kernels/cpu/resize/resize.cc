#include "kernels/cpu/resize/resize.h"

#include <algorithm>

#include "kernels/cpu/conv/depthwise_simd.h"

namespace tern::cpu {

void ResampleF32(const AxisTaps& axis, int64_t outer, int64_t inner, const float* x, float* y,
                 const Workers& workers) {
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, inner * axis.taps));
  workers.ParallelFor(outer * axis.output, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = i % axis.output;
      const float* from = x + i / axis.output * axis.input * inner;
      const int64_t* positions = axis.positions.data() + place * axis.taps;
      const float* weights = axis.weights.data() + place * axis.taps;
      if (inner == 1) {
        float sum = 0;
        for (int64_t t = 0; t < axis.taps; ++t)
          sum += weights[t] == 0 ? 0.f : weights[t] * from[positions[t]];
        y[i] = sum;
        continue;
      }
      float* to = y + i * inner;
      std::fill(to, to + inner, 0.f);
      for (int64_t t = 0; t < axis.taps; ++t)
        if (weights[t] != 0)
          DepthwiseSimd().add_row(from + positions[t] * inner, 1, weights + t, 1, 1, to, inner);
    }
  });
}

}  // namespace tern::cpu
