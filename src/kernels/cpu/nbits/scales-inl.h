// Reads the blocks of a panel, for *_simd.cc files.
#pragma once
#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/nbits/nbits_simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

inline Floats LoadScales(const uint8_t* record, bool f16, int j) {
  const int at = j * kLanes<float>;
  if (!f16) return LoadVector(reinterpret_cast<const float*>(record) + at);
  const auto* halves = reinterpret_cast<const uint16_t*>(record) + at;
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves))));
#elif defined(__AVX2__)
  return Floats(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves))));
#else
  Floats v{};
  for (int i = 0; i < kLanes<float>; ++i) v[i] = Widen(Half{halves[i]});
  return v;
#endif
}

inline Floats LoadBytes(const uint8_t* from) {
  Vector<int32_t> v;
  for (int i = 0; i < kLanes<float>; ++i) v[i] = from[i];
  return __builtin_convertvector(v, Floats);
}

// The scales, zero points and dwords of one block.
struct BlockReader {
  explicit BlockReader(const NBitsPanel& p) : panel(p) {
    for (Floats& z : zero) z = All(p.zero);
  }
  void Open(int64_t block) {
    const uint8_t* record = panel.records + block * panel.record_bytes;
    data = reinterpret_cast<const uint32_t*>(record + panel.data_at);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      scale[j] = LoadScales(record, panel.f16_scales, j);
      if (panel.has_zeros) zero[j] = LoadBytes(record + panel.zeros_at + j * kLanes<float>);
    }
  }

  const NBitsPanel& panel;
  const uint32_t* data = nullptr;
  Floats scale[kVectors] = {}, zero[kVectors];
};

// Calls f(k, data) for each step of k, in order, when `reader` has opened the step's block.
template <class F> inline void ForEachStep(BlockReader& reader, const F& f) {
  const NBitsPanel& p = reader.panel;
  const int64_t dwords = p.step * p.bits / 32 * kWidth;
  int64_t k = 0;
  for (int64_t block = 0; k < p.depth; ++block) {
    reader.Open(block);
    const uint32_t* data = reader.data;
    for (const int64_t end = MinOf(k + p.block, p.depth); k < end; k += p.step, data += dwords) f(k, data);
  }
}

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
