// Floats as bf16, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Bits = Vector<uint32_t>;

inline Bits BitsOf(Floats v) { return Bits(v); }

// The upper halves: to nearest even. NaN stays NaN.
inline Bits Rounded(Bits v) {
  const Bits rounded = v + 0x7fffu + ((v >> 16) & 1u);
  return (v & 0x7fffffffu) > 0x7f800000u ? v | 0x400000u : rounded;
}

// The first n numbers of an array of bf16, 0 <= n <= lanes; the others are zero and their memory is not
// touched.
inline Floats LoadBf16(const void* from, int64_t n = kLanes<float>) {
  typedef uint16_t Narrow __attribute__((vector_size(kVectorBytes / 2)));
#if defined(__AVX512F__)
  const auto narrow = Narrow(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), from));
#else
  Narrow narrow = {};
  __builtin_memcpy(&narrow, from, 2 * static_cast<uint64_t>(n));
#endif
  return Floats(__builtin_convertvector(narrow, Bits) << 16);
}

// Neighbours become neighbours: half as many words.
inline void StoreBf16(float* to, Floats v) {
#if defined(__AVX512BF16__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), __m256i(_mm512_cvtneps_pbh(__m512(v))));
#else
  typedef uint16_t Narrow __attribute__((vector_size(kVectorBytes / 2)));
  const Narrow narrow = __builtin_convertvector(Rounded(BitsOf(v)) >> 16, Narrow);
  __builtin_memcpy(to, &narrow, sizeof narrow);
#endif
}

// Of the first n only.
inline void StoreBf16Part(float* to, Floats v, int64_t n) {
#if defined(__AVX512BF16__)
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>((1u << n) - 1), __m256i(_mm512_cvtneps_pbh(__m512(v))));
#else
  float narrow[kLanes<float> / 2];
  StoreBf16(narrow, v);
  __builtin_memcpy(to, narrow, 2 * static_cast<uint64_t>(n));
#endif
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
