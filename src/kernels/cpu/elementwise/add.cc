#include "kernels/cpu/elementwise/add.h"

namespace tern::cpu {

void AddF32(const float* a, int64_t a_step, const float* b, int64_t b_step, float* y, int64_t n, const Workers& workers) {
  workers.ParallelFor(n, 16384, [=](int64_t begin, int64_t end) {
    if (a_step && b_step) for (int64_t i = begin; i < end; ++i) y[i] = a[i] + b[i];
    else for (int64_t i = begin; i < end; ++i) y[i] = a[i * a_step] + b[i * b_step];
  });
}

}  // namespace tern::cpu
