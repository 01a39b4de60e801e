// Softmax and log-softmax along an axis.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

// A tensor viewed along one axis: [outer, length, inner].
struct AxisShape {
  int64_t outer = 1, length = 1, inner = 1;
};

// Computes y = exp(x) / sum of exp(x) along the axis, or the logarithm of this quotient if `log` is true. y
// may equal x.
void SoftmaxF32(const AxisShape& shape, bool log, const float* x, float* y, const Workers& workers);

}  // namespace tern::cpu
