#include "kernels/cpu/gemm/tile_pack-inl.h"

#if defined(__AVX512BF16__)
#include <immintrin.h>
#endif

namespace tern::cpu::TERN_SIMD {
namespace {

using Bits = Vector<uint32_t>;

inline Bits BitsOf(Floats v) { return Bits(v); }

// Two vectors of floats as one of pairs, the first of a pair in the low half, rounded to nearest even.
// NaN stays NaN.
inline Bits Rounded(Bits v) {
  const Bits rounded = v + 0x7fffu + ((v >> 16) & 1u);
  return (v & 0x7fffffffu) > 0x7f800000u ? v | 0x400000u : rounded;
}
inline Bits Pairs(Floats low, Floats high) {
  return (Rounded(BitsOf(low)) >> 16) | (Rounded(BitsOf(high)) & 0xffff0000u);
}
inline uint32_t Pair(float low, float high) {
  return NarrowBFloat(low).bits | static_cast<uint32_t>(NarrowBFloat(high).bits) << 16;
}

struct Pairwise {
  static constexpr int kPerWord = 2;
  using Word = uint32_t;

#if defined(__AVX512BF16__)
  using Row = __m512bh;
  static Row Load(const float* b) { return Row(_mm512_loadu_si512(b)); }
  static void Add(Floats& sum, Word x, Row row) {
    sum = Floats(_mm512_dpbf16_ps(__m512(sum), Row(_mm512_set1_epi32(static_cast<int>(x))), row));
  }
  static __m256bh LoadHalf(const float* b) {
    return __m256bh(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }
  static void AddHalf(Halves& sum, Word x, __m256bh row) {
    sum = Halves(_mm256_dpbf16_ps(__m256(sum), __m256bh(_mm256_set1_epi32(static_cast<int>(x))), row));
  }
#else
  struct Row {
    Floats low, high;
  };
  static Row Load(const float* b) {
    const Bits pairs = BitsOf(LoadVector(b));
    return {Floats(pairs << 16), Floats(pairs & 0xffff0000u)};
  }
  static void Add(Floats& sum, Word x, const Row& row) {
    sum += FloatOf(x << 16) * row.low;
    sum += FloatOf(x & 0xffff0000u) * row.high;
  }
#if defined(__AVX512F__)
  struct HalfRow {
    Halves low, high;
  };
  static HalfRow LoadHalf(const float* b) {
    const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    return {Halves(_mm256_slli_epi32(pairs, 16)),
            Halves(_mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000u))))};
  }
  static void AddHalf(Halves& sum, Word x, const HalfRow& row) {
    sum += FloatOf(x << 16) * row.low;
    sum += FloatOf(x & 0xffff0000u) * row.high;
  }
#endif
#endif

  // Some steps of k as floats first, then two of them together.
  static void Pack(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor,
                   float* to) {
    constexpr int64_t kSteps = 32;
    float floats[kSteps * kWidth];
    for (int64_t j = 0; j < n; j += kWidth)
      for (int64_t i = 0; i < k; i += kSteps) {
        const int64_t steps = Least(kSteps, k - i);
        PackPanel(b + j * column + i * row, row, column, steps, Least<int64_t>(kWidth, n - j), factor,
                  floats);
        if (steps % 2 != 0)
          for (int64_t c = 0; c < kWidth; ++c) floats[steps * kWidth + c] = 0;
        for (int64_t s = 0; s < steps; s += 2)
          for (int64_t c = 0; c < kWidth; c += kLanes<float>, to += kLanes<float>)
            StoreVector(to, Floats(Pairs(LoadVector(floats + s * kWidth + c),
                                         LoadVector(floats + (s + 1) * kWidth + c))));
      }
  }

  // Neighbours become pairs; zero beside the last of an odd number.
  static void Copy(const float* from, int64_t count, float* to) {
#if defined(__AVX512BF16__)
    for (; count >= 32; count -= 32, from += 32, to += 16)
      _mm512_storeu_si512(to,
                          __m512i(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + 16), _mm512_loadu_ps(from))));
    if (count <= 0) return;
    const uint32_t there = (1u << count) - 1, words = (1u << ((count + 1) / 2)) - 1;
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there), from),
                 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(there >> 16), from + 16);
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(words), __m512i(_mm512_cvtne2ps_pbh(high, low)));
#else
    for (int64_t i = 0; i < count; i += 2, ++to) {
      const uint32_t pair = Pair(from[i], i + 1 < count ? from[i + 1] : 0);
      __builtin_memcpy(to, &pair, sizeof pair);
    }
#endif
  }
};

}  // namespace

const TileTable kTileBf16Simd = TableOf<Pairwise>();

}  // namespace tern::cpu::TERN_SIMD
