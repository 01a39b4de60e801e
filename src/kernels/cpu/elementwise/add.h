// Sum of two tensors of the same dims, or of one and a scalar.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

// y[i] = a[i * a_step] + b[i * b_step]; a step is 1, or 0 for a scalar. y may be a or b.
void AddF32(const float* a, int64_t a_step, const float* b, int64_t b_step, float* y, int64_t n, const Workers& workers);

}  // namespace tern::cpu
