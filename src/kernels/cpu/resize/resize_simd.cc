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

#if defined(__AVX2__)
// Loads x[positions[0]], x[positions[1]], … where `used`, else 0.
inline Floats Gathered(const float* x, const int32_t* positions, const Floats& weights) {
#if defined(__AVX512F__)
  const __mmask16 used = _mm512_cmp_ps_mask(__m512(weights), _mm512_setzero_ps(), _CMP_NEQ_UQ);
  return Floats(
      _mm512_mask_i32gather_ps(_mm512_setzero_ps(), used, _mm512_loadu_si512(positions), x, sizeof(float)));
#else
  const __m256 used = _mm256_cmp_ps(__m256(weights), _mm256_setzero_ps(), _CMP_NEQ_UQ);
  const auto at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(positions));
  return Floats(_mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, at, used, sizeof(float)));
#endif
}
#endif

void Pick(const float* x, const int32_t* positions, const float* weights, int64_t taps, int64_t step,
          float* y, int64_t n) {
  int64_t i = 0;
#if defined(__AVX2__)
  for (; i + kVector <= n; i += kVector) {
    Floats sum{};
    for (int64_t t = 0; t < taps; ++t) {
      const Floats weight = LoadVector(weights + t * step + i);
      sum += weight * Gathered(x, positions + t * step + i, weight);
    }
    StoreVector(y + i, sum);
  }
#endif
  for (; i < n; ++i) {
    float sum = 0;
    for (int64_t t = 0; t < taps; ++t)
      if (weights[t * step + i] != 0) sum += weights[t * step + i] * x[positions[t * step + i]];
    y[i] = sum;
  }
}

}  // namespace

const ResizeTable kResizeSimd = {Blend, Pick};

}  // namespace tern::cpu::TERN_SIMD
