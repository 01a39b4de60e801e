#include "kernels/cpu/nbits/digits_simd.h"

#include "kernels/cpu/nbits/scales-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)

constexpr int kPrefetchAhead = 1024;  // dwords between prefetch and use

using Bytes = Vector<uint8_t>;
using Ints = Vector<int32_t>;

// Adds to every lane the dot product of its four weights, which are u8, and four digits of `a`.
inline void AddDot(Ints& sum, Bytes weights, const int8_t* a) {
  int32_t four;
  __builtin_memcpy(&four, a, 4);
#if defined(__AVX512VNNI__)
  sum = Ints(_mm512_dpbusd_epi32(__m512i(sum), __m512i(weights), _mm512_set1_epi32(four)));
#else
  sum = Ints(_mm256_dpbusd_avx_epi32(__m256i(sum), __m256i(weights), _mm256_set1_epi32(four)));
#endif
}

// Adds the products of one step of kStep elements from k on. `data` points to the dwords of the step. `sum`
// is [rows][digits][vectors].
template <int R, int kBits, int kStep>
[[gnu::always_inline]] inline void DotStep(const NBitsTile& t, int64_t k, const uint32_t* data,
                                           Ints (&sum)[R][kDigits][kVectors]) {
  constexpr int kPer = 32 / kBits;
#pragma GCC unroll 8
  for (int g = 0; g < kStep / kPer; ++g) {
    Bytes first[kVectors], second[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const auto q = LoadVector(data + g * kWidth + j * kLanes<float>);
      __builtin_prefetch(data + kPrefetchAhead + g * kWidth + j * kLanes<float>);
      first[j] = kBits == 4 ? Bytes(q & 0x0f0f0f0fu) : Bytes(q);
      second[j] = Bytes((q >> 4) & 0x0f0f0f0fu);
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int d = 0; d < kDigits; ++d) {
        const int8_t* a = t.rows[i].digits + d * t.panel.depth + k + g * kPer;
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          AddDot(sum[i][d][j], first[j], a);
          if (kBits == 4) AddDot(sum[i][d][j], second[j], a + 4);
        }
      }
  }
}

inline Floats ToFloats(Ints v) { return __builtin_convertvector(v, Floats); }

template <int R, int kBits, int kStep> void MultiplySteps(const NBitsTile& t) {
  BlockReader block(t.panel);
  Floats sum[R][kVectors] = {};
  ForEachStep(block, [&](int64_t k, const uint32_t* data) {
    Ints integers[R][kDigits][kVectors] = {};
    DotStep<R, kBits, kStep>(t, k, data, integers);
    const int64_t s = k / kStep;
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i) {
      const float unit = t.rows[i].scales[s];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        Floats v = ToFloats(integers[i][0][j]) * unit;
        v += ToFloats(integers[i][1][j]) * (unit * 256);
        v += ToFloats(integers[i][2][j]) * (unit * 65536);
        sum[i][j] += block.scale[j] * (v - block.zero[j] * t.rows[i].sums[s]);
      }
    }
  });
  StoreSums(t, sum);
}

template <int R, int kBits> void MultiplyBits(const NBitsTile& t) {
  if (t.panel.step == 32)
    MultiplySteps<R, kBits, 32>(t);
  else
    MultiplySteps<R, kBits, 16>(t);
}

template <int R> void Multiply(const NBitsTile& t) {
  if (t.panel.bits == 4)
    MultiplyBits<R, 4>(t);
  else
    MultiplyBits<R, 8>(t);
}

constexpr DigitsTable kTable = {{nullptr, Multiply<1>, Multiply<2>, Multiply<3>}};

#else

constexpr DigitsTable kTable = {};

#endif

}  // namespace

const DigitsTable kDigitsSimdPlain = kTable;

}  // namespace tern::cpu::TERN_SIMD
