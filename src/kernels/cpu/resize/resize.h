// Resamples a tensor along one axis. Each output element is a weighted sum of a few input elements.
#pragma once
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"

namespace tern::cpu {

struct AxisTaps {
  int64_t input = 0, output = 0;
  int64_t taps = 0;                // taps per output position; unused taps have weight 0
  std::vector<int64_t> positions;  // [output, taps]
  std::vector<float> weights;      // [output, taps]
  // The same as [taps, output], for the last axis of a tensor. SetColumns fills them.
  std::vector<int32_t> column_positions;
  std::vector<float> column_weights;
  void SetColumns();
};

// Resamples x [outer, input, inner] to y [outer, output, inner]. If inner is 1, SetColumns must have been
// called.
void ResampleF32(const AxisTaps& axis, int64_t outer, int64_t inner, const float* x, float* y,
                 const Workers& workers);

}  // namespace tern::cpu
