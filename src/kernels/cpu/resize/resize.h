// Resampling one axis after the other: each output position is a weighted sum of a few input positions.
#pragma once
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace tern::cpu {

struct AxisTaps {
  int64_t input = 0, output = 0;
  int64_t taps = 0;                // per output position; unused ones have weight 0
  std::vector<int64_t> positions;  // [output, taps]
  std::vector<float> weights;      // [output, taps]
};

// y [outer, output, inner] from x [outer, input, inner].
void ResampleF32(const AxisTaps& axis, int64_t outer, int64_t inner, const float* x, float* y,
                 const Workers& workers);

}  // namespace tern::cpu
