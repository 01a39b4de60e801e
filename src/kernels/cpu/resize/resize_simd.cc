#include "kernels/cpu/resize/resize_simd.h"

#include "kernels/cpu/simd/part-inl.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Floats = Vector<float>;
constexpr int kVector = kLanes<float>;

template <int N>
inline void Vectors(const float* const* x, const float* weights, int64_t taps, float* y, int64_t i) {
  Floats sum[N];
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) sum[j] = Floats{};
  for (int64_t t = 0; t < taps; ++t)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[j] += weights[t] * LoadVector(x[t] + i + j * kVector);
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) StoreVector(y + i + j * kVector, sum[j]);
}

void Blend(const float* const* x, const float* weights, int64_t taps, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 4 * kVector <= n; i += 4 * kVector) Vectors<4>(x, weights, taps, y, i);
  for (; i + kVector <= n; i += kVector) Vectors<1>(x, weights, taps, y, i);
  if (i == n) return;
  Floats sum{};
  for (int64_t t = 0; t < taps; ++t) sum += weights[t] * LoadPart(x[t] + i, n - i);
  StorePart(y + i, sum, n - i);
}

}  // namespace

const ResizeTable kResizeSimd = {Blend};

}  // namespace tern::cpu::TERN_SIMD
