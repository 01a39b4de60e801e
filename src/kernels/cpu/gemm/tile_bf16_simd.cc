#include "kernels/cpu/gemm/tile_pack-inl.h"
#include "kernels/cpu/simd/bf16-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Joins two bf16 into one dword. `low` is in the lower 16 bits.
inline uint32_t Pair(float low, float high) {
  return ToBFloat(low).bits | static_cast<uint32_t>(ToBFloat(high).bits) << 16;
}

inline void RoundToNearest(const float* exact, int64_t rows, float* rounded) {
  for (int64_t i = 0; i < rows * kWidth; i += kLanes<float>)
    StoreVector(rounded + i, Floats(Rounded(BitsOf(LoadVector(exact + i))) & 0xffff0000u));
}

inline Floats Abs(Floats v) { return Floats(BitsOf(v) & 0x7fffffffu); }

// Rounds rows of weights, [rows][kWidth], to bf16 so that the sum of each column is preserved. Weights are
// first rounded to nearest even. Then weights near the middle between two bf16 numbers change to the other
// neighbour if this reduces the error of their column's sum. The weights closest to the middle change first.
// This reduces the error of products with inputs of nonzero mean, as after a ReLU, and hardly changes the
// error of other products. `off` is the error of the sum of each column so far. Each call updates it.
inline void RoundPreservingSums(const float* exact, int64_t rows, float* rounded, float* off) {
  // Minimum distance from the rounded number, relative to the distance between the two neighbours.
  constexpr float kMinDistance[] = {0.45f, 0.375f, 0.25f};
  for (int64_t c = 0; c < kWidth; c += kLanes<float>) {
    Floats sum = LoadVector(off + c);
    for (int64_t i = c; i < rows * kWidth; i += kWidth) {
      const Floats w = LoadVector(exact + i), r = Floats(Rounded(BitsOf(w)) & 0xffff0000u);
      StoreVector(rounded + i, r);
      sum += r - w;
    }
    for (const float min_distance : kMinDistance)
      for (int64_t i = c; i < rows * kWidth; i += kWidth) {
        const Floats w = LoadVector(exact + i), r = LoadVector(rounded + i), error = r - w;
        const Bits away = (BitsOf(error) ^ BitsOf(r)) >> 31;  // 1 if w is farther from zero than r
        const Floats other = Floats(BitsOf(r) - 0x10000u + (away << 17)), step = other - r,
                     after = sum + step;
        const auto better = (Abs(error) > min_distance * Abs(step)) & (Abs(after) < Abs(sum));
        StoreVector(rounded + i, better ? other : r);
        sum = better ? after : sum;
      }
    StoreVector(off + c, sum);
  }
}

struct Bf16Pairs {
  static constexpr int kPerLane = 2;
  using Dword = uint32_t;

#if defined(__AVX512BF16__)
  using Row = __m512bh;
  static Row Load(const float* b) { return Row(_mm512_loadu_si512(b)); }
  static void Add(Floats& sum, Dword x, Row row) {
    sum = Floats(_mm512_dpbf16_ps(__m512(sum), Row(_mm512_set1_epi32(static_cast<int>(x))), row));
  }
  static __m256bh LoadHalf(const float* b) {
    return __m256bh(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
  }
  static void AddHalf(Halves& sum, Dword x, __m256bh row) {
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
  static void Add(Floats& sum, Dword x, const Row& row) {
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
  static void AddHalf(Halves& sum, Dword x, const HalfRow& row) {
    sum += FloatOf(x << 16) * row.low;
    sum += FloatOf(x & 0xffff0000u) * row.high;
  }
#endif
#endif

  // Packs kSteps elements of k at a time: first as floats, then joins pairs of them into dwords.
  template <bool kPreserveSums>
  static void PackSteps(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor,
                        float* to) {
    constexpr int64_t kSteps = 64;
    float exact[kSteps * kWidth], rounded[kSteps * kWidth];
    for (int64_t j = 0; j < n; j += kWidth) {
      float off[kWidth] = {};
      for (int64_t i = 0; i < k; i += kSteps) {
        const int64_t steps = MinOf(kSteps, k - i);
        PackPanel(b + j * column + i * row, row, column, steps, MinOf<int64_t>(kWidth, n - j), factor, exact);
        if (kPreserveSums)
          RoundPreservingSums(exact, steps, rounded, off);
        else
          RoundToNearest(exact, steps, rounded);
        if (steps % 2 != 0)
          for (int64_t c = 0; c < kWidth; ++c) rounded[steps * kWidth + c] = 0;
        for (int64_t s = 0; s < steps * kWidth; s += 2 * kWidth)
          for (int64_t c = 0; c < kWidth; c += kLanes<float>, to += kLanes<float>)
            StoreVector(to, Floats((BitsOf(LoadVector(rounded + s + c)) >> 16) |
                                   BitsOf(LoadVector(rounded + s + kWidth + c))));
      }
    }
  }

  static constexpr auto Pack = PackSteps<true>, PackNearest = PackSteps<false>;

  // Two neighbours become one dword. An odd last element is paired with zero.
  static void Copy(const float* from, int64_t count, float* to) {
#if defined(__AVX512BF16__)
    for (; count >= 32; count -= 32, from += 32, to += 16)
      _mm512_storeu_si512(to,
                          __m512i(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + 16), _mm512_loadu_ps(from))));
    if (count <= 0) return;
    const uint32_t mask = (1u << count) - 1, out_mask = (1u << ((count + 1) / 2)) - 1;
    const __m512 low = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from),
                 high = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), from + 16);
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(out_mask), __m512i(_mm512_cvtne2ps_pbh(high, low)));
#else
    for (int64_t i = 0; i < count; i += 2, ++to) {
      const uint32_t pair = Pair(from[i], i + 1 < count ? from[i + 1] : 0);
      __builtin_memcpy(to, &pair, sizeof pair);
    }
#endif
  }
};

}  // namespace

const TileTable kTileBf16Simd = TableOf<Bf16Pairs>();

}  // namespace tern::cpu::TERN_SIMD
