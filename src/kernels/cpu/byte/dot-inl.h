// Exact dot products of u8 and i8 in 32-bit lanes, for *_simd.cc files.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;

// Weights is a vector with a dword of weights per lane: four i8, or two i16 if kElementBytes is 2. Pixels
// contains one dword, four u8 or two u16, which is multiplied with every lane. AddDot adds to every lane the
// dot product of its weights and the pixels.
#if defined(__AVX512VNNI__)

constexpr int kElementBytes = 1;
using Weights = __m512i;
using Pixels = __m512i;
inline Weights LoadWeights(const int8_t* p) { return _mm512_loadu_si512(p); }
inline Pixels SpreadPixels(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
inline void AddDot(Ints& sum, Pixels x, Weights w) { sum = Ints(_mm512_dpbusd_epi32(__m512i(sum), x, w)); }

#elif defined(__AVXVNNI__)

constexpr int kElementBytes = 1;
using Weights = __m256i;
using Pixels = __m256i;
inline Weights LoadWeights(const int8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
inline Pixels SpreadPixels(uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
inline void AddDot(Ints& sum, Pixels x, Weights w) {
  sum = Ints(_mm256_dpbusd_avx_epi32(__m256i(sum), x, w));
}

#elif defined(__SSE2__)

// Elements have 16 bits. Products of 16-bit numbers are added in pairs, which cannot overflow.
constexpr int kElementBytes = 2;
using Weights = Ints;
using Pixels = Ints;
inline Ints MultiplyPairs(Ints a, Ints b) {
#if defined(__AVX512BW__)
  return Ints(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return Ints(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#else
  return Ints(_mm_madd_epi16(__m128i(a), __m128i(b)));
#endif
}
inline Weights LoadWeights(const int8_t* p) {
  Ints w;
  __builtin_memcpy(&w, p, sizeof w);
  return w;
}
inline Pixels SpreadPixels(uint32_t x) { return Ints{} + static_cast<int32_t>(x); }
inline void AddDot(Ints& sum, Pixels x, Weights w) { sum += MultiplyPairs(x, w); }

#else

constexpr int kElementBytes = 1;
struct Weights {
  Ints byte[4];
};
struct Pixels {
  int32_t byte[4];
};
inline Weights LoadWeights(const int8_t* p) {
  Ints v;
  __builtin_memcpy(&v, p, sizeof v);
  return {{(v << 24) >> 24, (v << 16) >> 24, (v << 8) >> 24, v >> 24}};
}
inline Pixels SpreadPixels(uint32_t x) {
  return {{static_cast<int32_t>(x & 255), static_cast<int32_t>(x >> 8 & 255),
           static_cast<int32_t>(x >> 16 & 255), static_cast<int32_t>(x >> 24)}};
}
inline void AddDot(Ints& sum, const Pixels& x, const Weights& w) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) sum += x.byte[i] * w.byte[i];
}

#endif

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
