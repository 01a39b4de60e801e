// Rows of f32 as integers of 24 bits, and their products by AVX512-VNNI, for *_simd.cc files.
//
// Within a step of k, all elements of a row have one scale. An element is an integer of three digits of 8
// bits, and each digit is multiplied by the weights exactly. The rounding error is 2^-24 of the largest
// element of the step, about that of f32.
#pragma once
#include "kernels/cpu/nbits/scales-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// The integer of a step's largest element. Its digits stay in [-128, 127] even if it is rounded up.
constexpr float kLargestInteger = 127 * 65536;
constexpr float kMinMagnitude = 1e-30f, kMaxMagnitude = 1e30f;

// Splits 32 or 16 elements into digits. Returns false if they have no exact scale.
inline bool StepToDigits(const float* a, int64_t step, int64_t depth, int8_t* digits, float& scale,
                         float& sum) {
  float largest = 0;
  bool finite = true;
#pragma omp simd reduction(max : largest) reduction(& : finite)
  for (int64_t i = 0; i < step; ++i) {
    const float magnitude = __builtin_fabsf(a[i]);
    finite &= magnitude <= kMaxMagnitude;  // false for NaN
    largest = magnitude > largest ? magnitude : largest;
  }
  if (!finite || (largest > 0 && largest < kMinMagnitude)) return false;
  const float inverse = largest > 0 ? kLargestInteger / largest : 0;
  int32_t total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < step; ++i) {
    const float scaled = a[i] * inverse;
    const auto q = static_cast<int32_t>(scaled + (scaled < 0 ? -0.5f : 0.5f));
    const auto d0 = static_cast<int8_t>(q);
    const int32_t rest = (q - d0) >> 8;
    const auto d1 = static_cast<int8_t>(rest);
    digits[i] = d0;
    digits[depth + i] = d1;
    digits[2 * depth + i] = static_cast<int8_t>((rest - d1) >> 8);
    total += q;
  }
  scale = largest / kLargestInteger;
  sum = static_cast<float>(total) * scale;
  return true;
}

bool ToDigits(const float* a, int64_t steps, int64_t step, const NBitsRow& row) {
  for (int64_t s = 0; s < steps; ++s)
    if (!StepToDigits(a + s * step, step, steps * step, row.digits + s * step, row.scales[s], row.sums[s]))
      return false;
  return true;
}

#if defined(__AVX512F__)
#define TERN_VNNI __attribute__((target("avx512vnni")))

// Returns four consecutive digits in every lane.
inline __m512i Four(const int8_t* a) {
  int32_t four;
  __builtin_memcpy(&four, a, 4);
  return _mm512_set1_epi32(four);
}

inline Floats ToFloats(__m512i v) { return __builtin_convertvector(Vector<int32_t>(v), Floats); }

// Adds the products of one step of k. sum is [rows][digits][vectors].
template <int R, int kBits>
TERN_VNNI inline void DotStep(const NBitsTile& t, int64_t s, __m512i (&sum)[R][kDigits][kVectors]) {
  constexpr int kPer = 32 / kBits;
  const NBitsPanel& p = t.panel;
  const int64_t groups = p.step / kPer;
  const uint32_t* data = p.data + s * groups * kWidth;
  const __m512i low = _mm512_set1_epi8(15);
  for (int64_t g = 0; g < groups; ++g, data += kWidth) {
    const int64_t k = s * p.step + g * kPer;
    __m512i first[kVectors], second[kVectors];
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const __m512i q = _mm512_loadu_si512(data + j * kLanes<float>);
      first[j] = kBits == 4 ? _mm512_and_si512(q, low) : q;
      second[j] = _mm512_and_si512(__m512i(Vector<uint16_t>(q) >> 4), low);
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int d = 0; d < kDigits; ++d) {
        const int8_t* a = t.rows[i].digits + d * p.depth + k;
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) {
          sum[i][d][j] = _mm512_dpbusd_epi32(sum[i][d][j], first[j], Four(a));
          if (kBits == 4) sum[i][d][j] = _mm512_dpbusd_epi32(sum[i][d][j], second[j], Four(a + 4));
        }
      }
  }
}

template <int R, int kBits> TERN_VNNI void MultiplyDigitsOf(const NBitsTile& t) {
  const NBitsPanel& p = t.panel;
  const int64_t steps = p.depth / p.step;
  ScaleReader scales(p);
  Floats sum[R][kVectors] = {};
  for (int64_t s = 0; s < steps; ++s) {
    __m512i integers[R][kDigits][kVectors] = {};
    DotStep<R, kBits>(t, s, integers);
    scales.Read(s);
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i) {
      const float unit = t.rows[i].scales[s];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        Floats v = ToFloats(integers[i][0][j]) * unit;
        v += ToFloats(integers[i][1][j]) * (unit * 256);
        v += ToFloats(integers[i][2][j]) * (unit * 65536);
        sum[i][j] += scales.scale[j] * (v - scales.zero[j] * t.rows[i].sums[s]);
      }
    }
  }
  StoreSums(t, sum);
}

template <int R> void MultiplyDigits(const NBitsTile& t) {
  if (t.panel.bits == 4)
    MultiplyDigitsOf<R, 4>(t);
  else
    MultiplyDigitsOf<R, 8>(t);
}
#endif

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
