// Reads the scales and zero points of a panel, for *_simd.cc files.
#pragma once
#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/nbits/nbits_simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

inline Floats LoadScales(const void* from, bool f16, int64_t at) {
  if (!f16) return LoadVector(static_cast<const float*>(from) + at);
  const auto* halves = static_cast<const uint16_t*>(from) + at;
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves))));
#elif defined(__AVX2__)
  return Floats(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves))));
#else
  Floats v;
  for (int i = 0; i < kLanes<float>; ++i) v[i] = Widen(Half{halves[i]});
  return v;
#endif
}

inline Floats LoadBytes(const uint8_t* from) {
  Vector<int32_t> v;
  for (int i = 0; i < kLanes<float>; ++i) v[i] = from[i];
  return __builtin_convertvector(v, Floats);
}

// Read(s) sets the scales and zero points of step s. Steps must be read in order, but the first may be any.
struct ScaleReader {
  explicit ScaleReader(const NBitsPanel& p) : panel(p) {
    for (Floats& z : zero) z = All(p.zero);
  }
  void Read(int64_t s) {
    const int64_t block = s * panel.step / panel.block;
    if (block == current) return;
    current = block;
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = block * kWidth + j * kLanes<float>;
      scale[j] = LoadScales(panel.scales, panel.f16_scales, at);
      if (panel.zeros) zero[j] = LoadBytes(panel.zeros + at);
    }
  }

  const NBitsPanel& panel;
  int64_t current = -1;
  Floats scale[kVectors] = {}, zero[kVectors];
};

template <int R> inline void StoreSums(const NBitsTile& t, const Floats (&sum)[R][kVectors]) {
  constexpr int lanes = kLanes<float>;
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const int64_t count = MinOf<int64_t>(lanes, t.columns - j * lanes);
    if (count <= 0) return;
    const Floats bias = t.bias ? LoadPart(t.bias + j * lanes, count) : Floats{};
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i) StorePart(t.c + i * t.c_row + j * lanes, sum[i][j] + bias, count);
  }
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
