#include "kernels/cpu/conv/depthwise_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Adds the products of kTaps neighbouring taps to y. The stride is kStride, or any_stride if kStride is 0.
template <int kTaps, int kStride>
void AddTaps(const float* __restrict x, int64_t any_stride, const float* w, float* __restrict y, int64_t n) {
  const int64_t stride = kStride ? kStride : any_stride;
  float f[kTaps];
  for (int t = 0; t < kTaps; ++t) f[t] = w[t];
  for (int64_t i = 0; i < n; ++i) {
    float sum = y[i];
#pragma GCC unroll 8
    for (int t = 0; t < kTaps; ++t) sum += f[t] * x[i * stride + t];
    y[i] = sum;
  }
}

template <int kTaps> void AddStrided(const float* x, int64_t stride, const float* w, float* y, int64_t n) {
  if (stride == 1)
    AddTaps<kTaps, 1>(x, stride, w, y, n);
  else if (stride == 2)
    AddTaps<kTaps, 2>(x, stride, w, y, n);
  else
    AddTaps<kTaps, 0>(x, stride, w, y, n);
}

void AddRow(const float* x, int64_t stride, const float* w, int64_t taps, int64_t dilation, float* y,
            int64_t n) {
  int64_t t = 0;
  for (; dilation == 1 && t + 3 <= taps; t += 3) AddStrided<3>(x + t, stride, w + t, y, n);
  for (; t < taps; ++t) AddStrided<1>(x + t * dilation, stride, w + t, y, n);
}

}  // namespace

const DepthwiseTable kDepthwiseSimd = {AddRow};

}  // namespace tern::cpu::TERN_SIMD
