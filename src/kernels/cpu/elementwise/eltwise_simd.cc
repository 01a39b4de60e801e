#include "kernels/cpu/elementwise/eltwise_simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

template <class T> void AddScaled(const void* sum, const void* x, float factor, void* y, int64_t n) {
  const T *p = static_cast<const T*>(x), *q = static_cast<const T*>(sum);
  const T f = factor;
  T* to = static_cast<T*>(y);
  if (q) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = q[i] + f * p[i];
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) to[i] = f * p[i];
  }
}

}  // namespace

const EltwiseTable kEltwiseSimd = {AddScaled<float>, AddScaled<double>};

}  // namespace tern::cpu::TERN_SIMD
