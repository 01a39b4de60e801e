// Exact dot products of four u8 and four i8 per 32-bit lane, for *_simd.cc files.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;

// Weights is a vector with four i8 per lane. Pixels contains four u8, which are multiplied with every lane.
// AddDot adds to every lane the dot product of its four weights and the four pixels.
#if defined(__AVX512VNNI__)

using Weights = __m512i;
using Pixels = __m512i;
inline Weights LoadWeights(const int8_t* p) { return _mm512_loadu_si512(p); }
inline Pixels SpreadPixels(uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
inline void AddDot(Ints& sum, Pixels x, Weights w) { sum = Ints(_mm512_dpbusd_epi32(__m512i(sum), x, w)); }

#elif defined(__AVXVNNI__)

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

// Bytes 0 and 2 of a lane become two 16-bit numbers, and so do bytes 1 and 3. Products of 16-bit numbers are
// added in pairs, which cannot overflow.
typedef int16_t Shorts __attribute__((vector_size(kVectorBytes)));
struct Weights {
  Shorts even, odd;
};
using Pixels = Weights;

inline Ints MultiplyPairs(Shorts a, Shorts b) {
#if defined(__AVX512BW__)
  return Ints(_mm512_madd_epi16(__m512i(a), __m512i(b)));
#elif defined(__AVX2__)
  return Ints(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#else
  return Ints(_mm_madd_epi16(__m128i(a), __m128i(b)));
#endif
}
inline Weights LoadWeights(const int8_t* p) {
  Shorts v;
  __builtin_memcpy(&v, p, sizeof v);
  return {(v << 8) >> 8, v >> 8};
}
inline Pixels SpreadPixels(uint32_t x) {
  const auto v = Shorts(Ints{} + static_cast<int32_t>(x));
  typedef uint16_t Unsigned __attribute__((vector_size(kVectorBytes)));
  return {v & static_cast<int16_t>(255), Shorts(Unsigned(v) >> 8)};
}
inline void AddDot(Ints& sum, const Pixels& x, const Weights& w) {
  sum += MultiplyPairs(x.even, w.even);
  sum += MultiplyPairs(x.odd, w.odd);
}

#else

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
