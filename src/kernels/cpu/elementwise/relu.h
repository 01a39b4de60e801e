// Rectifier.
#pragma once
#include <cstdint>

#include "base/thread_pool.h"

namespace tern::cpu {

// y[i] = max(x[i], 0); NaN stays NaN. y may be x.
void ReluF32(const float* x, float* y, int64_t n, const Workers& workers);

}  // namespace tern::cpu
