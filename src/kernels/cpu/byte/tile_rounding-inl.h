// Rounds sums of register tiles to 8 bits, four vectors at a time, for *_simd.cc files that are compiled with
// -ffp-contract=off and for x86.
#pragma once
#include "kernels/cpu/byte/byte_epilogue-inl.h"
#include "kernels/cpu/byte/lanes-inl.h"

#if defined(__SSE2__)
namespace tern::cpu::TERN_SIMD {
namespace {

// Four vectors of bytes are N vectors of 4 / N rows. Saturating instructions work within parts of 16 bytes,
// so they leave part p of vector j of row r in dword 4 * p + N * r + j. Returns the dwords row by row, which
// is the same order for N = 1 and N = 2.
inline __m128i OrderRows(__m128i v) { return v; }
#if defined(__AVX2__)
inline __m256i OrderRows(__m256i v) {
  return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
#endif
#if defined(__AVX512F__)
inline __m512i OrderRows(__m512i v) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_maskz_permutexvar_epi32(0xffff, order, v);
}
#endif

// Returns quarter I of a vector in the lower bytes.
template <int I> inline __m128i Quarter(__m128i v) { return _mm_srli_si128(v, 4 * I); }
#if defined(__AVX2__)
template <int I> inline __m128i Quarter(__m256i v) {
  return _mm_srli_si128(_mm256_extracti128_si256(v, I / 2), 8 * (I % 2));
}
#endif
#if defined(__AVX512F__)
template <int I> inline __m128i Quarter(__m512i v) { return _mm512_maskz_extracti32x4_epi32(15, v, I); }
#endif
// Returns half I of a vector in the lower bytes.
template <int I> inline __m128i Half(__m128i v) { return _mm_srli_si128(v, 8 * I); }
#if defined(__AVX2__)
template <int I> inline __m128i Half(__m256i v) { return _mm256_extracti128_si256(v, I); }
#endif
#if defined(__AVX512F__)
template <int I> inline __m256i Half(__m512i v) { return _mm512_maskz_extracti64x4_epi64(15, v, I); }
#endif

template <int kBytes, class V> inline void StoreLower(uint8_t* to, V v) { __builtin_memcpy(to, &v, kBytes); }

// Stores the rounded numbers v as `kRows` rows of N vectors. Row r is stored at address to + r * stride.
template <int N, int kRows>
inline void StoreRounded(const Lanes<kVectorBytes>::Raw (&v)[4], const Lanes<kVectorBytes>::Range& range,
                         uint8_t* to, int64_t stride) {
  using L = Lanes<kVectorBytes>;
  constexpr int kBytes = N * kVectorBytes / 4;
  const auto rows = OrderRows(L::Raw(L::SaturatedBytes(L::Both(v[0], v[1]), L::Both(v[2], v[3]), range)));
  StoreLower<kBytes>(to, rows);
  if constexpr (N == 2) {
    if constexpr (kRows > 1) StoreLower<kBytes>(to + stride, Half<1>(rows));
  } else {
    if constexpr (kRows > 1) StoreLower<kBytes>(to + stride, Quarter<1>(rows));
    if constexpr (kRows > 2) StoreLower<kBytes>(to + 2 * stride, Quarter<2>(rows));
    if constexpr (kRows > 3) StoreLower<kBytes>(to + 3 * stride, Quarter<3>(rows));
  }
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
#endif
