#include "kernels/cpu/elementwise/relu.h"

namespace tern::cpu {

void ReluF32(const float* x, float* y, int64_t n, const Workers& workers) {
  workers.ParallelFor(n, 16384, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = x[i] < 0 ? 0.f : x[i];
  });
}

}  // namespace tern::cpu
