// Partial vectors (the first n lanes), for *_simd.cc files.
#pragma once
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Floats = Vector<float>;
// Broadcasts v. Compilers turn the product into a broadcast. Unlike a sum with zeros, the product preserves
// -0.
inline Floats All(float v) { return (Floats{} + 1.f) * v; }

// AtMost and AtLeast compute min(x, most) and max(x, least). NaN in x stays NaN, because the instructions
// return their second operand if an operand is NaN. The masked forms avoid a false warning of gcc 12.
inline Floats AtMost(Floats x, float most) {
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_min_ps(0xffff, _mm512_set1_ps(most), __m512(x)));
#elif defined(__AVX2__)
  return Floats(_mm256_min_ps(_mm256_set1_ps(most), __m256(x)));
#elif defined(__SSE4_1__)
  return Floats(_mm_min_ps(_mm_set1_ps(most), __m128(x)));
#else
  return x > most ? All(most) : x;
#endif
}
inline Floats AtLeast(Floats x, float least) {
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_max_ps(0xffff, _mm512_set1_ps(least), __m512(x)));
#elif defined(__AVX2__)
  return Floats(_mm256_max_ps(_mm256_set1_ps(least), __m256(x)));
#elif defined(__SSE4_1__)
  return Floats(_mm_max_ps(_mm_set1_ps(least), __m128(x)));
#else
  return x < least ? All(least) : x;
#endif
}

// Loads n elements, 0 <= n <= lanes. The other lanes are zero; memory after the n elements is not read.
inline Vector<float> LoadPart(const float* p, int64_t n) {
#if defined(__AVX512F__)
  return Vector<float>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p));
#elif defined(__AVX2__)
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return Vector<float>(
      _mm256_maskload_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes)));
#else
  if (n >= kLanes<float>) return LoadVector(p);
  return Vector<float>{n > 0 ? p[0] : 0.f, n > 1 ? p[1] : 0.f, n > 2 ? p[2] : 0.f, 0.f};
#endif
}

// Stores the first n lanes, 0 <= n <= lanes.
inline void StorePart(float* p, Vector<float> v, int64_t n) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), __m512(v));
#elif defined(__AVX2__)
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lanes), __m256(v));
#else
  if (n >= kLanes<float>) return StoreVector(p, v);
  if (n > 0) p[0] = v[0];
  if (n > 1) p[1] = v[1];
  if (n > 2) p[2] = v[2];
#endif
}

// Splits n elements into vectors and calls f(i, load, store) for each vector, which starts at element i. load
// and store handle a partial last vector.
template <class F> inline void EachVector(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kLanes<float> <= n; i += kLanes<float>)
    f(
        i, [](const float* p) { return LoadVector(p); }, [](float* p, Floats v) { StoreVector(p, v); });
  if (i == n) return;
  const int64_t remaining = n - i;
  f(
      i, [remaining](const float* p) { return LoadPart(p, remaining); },
      [remaining](float* p, Floats v) { StorePart(p, v, remaining); });
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
