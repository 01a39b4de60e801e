// Local response normalisation across neighbouring channels.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

// y = x / (bias + factor * squares) ^ beta. `squares` is the sum of squares over channels [c - before, c +
// after]. x is [outer, channels, inner].
struct Lrn {
  int64_t outer = 0, channels = 0, inner = 1;
  int64_t before = 0, after = 0;
  float factor = 0, beta = 0, bias = 0;  // factor is alpha / size

  void Run(const float* x, float* y, const Workers& workers) const;
};

}  // namespace tern::cpu
