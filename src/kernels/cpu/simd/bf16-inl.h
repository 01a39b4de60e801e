// Conversion between vectors of f32 and bf16 in memory, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Bits = Vector<uint32_t>;

inline Bits BitsOf(Floats v) { return Bits(v); }

// Rounds to the nearest bf16, ties to even. The result is in the upper 16 bits; the lower 16 bits are not
// cleared. NaN stays NaN.
inline Bits Rounded(Bits v) {
  const Bits rounded = v + 0x7fffu + ((v >> 16) & 1u);
  return (v & 0x7fffffffu) > 0x7f800000u ? v | 0x400000u : rounded;
}

// Loads n bf16 numbers, 0 <= n <= lanes. The other lanes are zero; memory after the n numbers is not read.
inline Floats LoadBf16(const void* from, int64_t n = kLanes<float>) {
  typedef uint16_t Bf16Lanes __attribute__((vector_size(kVectorBytes / 2)));
#if defined(__AVX512F__)
  const auto bf16 = Bf16Lanes(_mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), from));
#else
  Bf16Lanes bf16 = {};
  __builtin_memcpy(&bf16, from, 2 * static_cast<uint64_t>(n));
#endif
  return Floats(__builtin_convertvector(bf16, Bits) << 16);
}

// Stores all lanes as contiguous bf16 numbers.
inline void StoreBf16(float* to, Floats v) {
#if defined(__AVX512BF16__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), __m256i(_mm512_cvtneps_pbh(__m512(v))));
#else
  typedef uint16_t Bf16Lanes __attribute__((vector_size(kVectorBytes / 2)));
  const Bf16Lanes bf16 = __builtin_convertvector(Rounded(BitsOf(v)) >> 16, Bf16Lanes);
  __builtin_memcpy(to, &bf16, sizeof bf16);
#endif
}

// Stores the first n lanes.
inline void StoreBf16Part(float* to, Floats v, int64_t n) {
#if defined(__AVX512BF16__)
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>((1u << n) - 1), __m256i(_mm512_cvtneps_pbh(__m512(v))));
#else
  float bf16[kLanes<float> / 2];
  StoreBf16(bf16, v);
  __builtin_memcpy(to, bf16, 2 * static_cast<uint64_t>(n));
#endif
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
