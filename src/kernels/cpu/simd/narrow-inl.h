// Floats as bf16, for *_simd.cc files.
#pragma once
#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

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

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
