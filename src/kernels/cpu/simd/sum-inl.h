// Reductions of rows to one number, for *_simd.cc files. The order of additions depends on the length only.
#pragma once
#include "kernels/cpu/elementwise/math-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Returns a vector with the first n lanes of v and the remaining lanes of `others`.
inline Floats Keep(Floats v, int64_t n, Floats others = Floats{}) {
  static const int32_t lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return LoadVector(lane) < static_cast<int32_t>(n) ? v : others;
}

// Reduces all lanes pairwise with `join`.
template <class F> inline float Across(Floats v, const F& join) {
  constexpr int lanes = kLanes<float>;
  float part[lanes];
  StoreVector(part, v);
  typedef float Four __attribute__((vector_size(16)));
  Four sum;
  __builtin_memcpy(&sum, part, 16);
#pragma GCC unroll 4
  for (int i = 4; i < lanes; i += 4) {
    Four next;
    __builtin_memcpy(&next, part + i, 16);
    sum = join(sum, next);
  }
  sum = join(sum, __builtin_shufflevector(sum, sum, 2, 3, 0, 1));
  sum = join(sum, __builtin_shufflevector(sum, sum, 1, 0, 3, 2));
  return sum[0];
}
inline float SumAcross(Floats v) {
  return Across(v, [](auto a, auto b) { return a + b; });
}
// Returns the largest lane. No lane may be NaN.
inline float MaxAcross(Floats v) {
  return Across(v, [](auto a, auto b) { return a > b ? a : b; });
}

// Returns the lane-wise maximum, or b where a or b is NaN. Smaller returns the minimum, with the same rule.
inline Floats Larger(Floats a, Floats b) {
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_max_ps(0xffff, __m512(a), __m512(b)));
#elif defined(__AVX2__)
  return Floats(_mm256_max_ps(__m256(a), __m256(b)));
#elif defined(__SSE4_1__)
  return Floats(_mm_max_ps(__m128(a), __m128(b)));
#else
  return a > b ? a : b;
#endif
}

inline Floats Smaller(Floats a, Floats b) {
#if defined(__AVX512F__)
  return Floats(_mm512_maskz_min_ps(0xffff, __m512(a), __m512(b)));
#elif defined(__AVX2__)
  return Floats(_mm256_min_ps(__m256(a), __m256(b)));
#elif defined(__SSE4_1__)
  return Floats(_mm_min_ps(__m128(a), __m128(b)));
#else
  return a < b ? a : b;
#endif
}

// Returns the sum of f(vector) over a row of n elements. Lanes beyond the end are not counted.
template <class F> inline float SumRow(const float* x, int64_t n, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  Floats a{}, b{}, c{}, d{};
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a += f(LoadVector(x + i));
    b += f(LoadVector(x + i + lanes));
    c += f(LoadVector(x + i + 2 * lanes));
    d += f(LoadVector(x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a += f(LoadVector(x + i));
  if (i < n) b += Keep(f(LoadPart(x + i, n - i)), n - i);
  return SumAcross((a + b) + (c + d));
}

constexpr int64_t kSumBlock = 4096;  // elements that are summed in f32; sums of blocks are added in f64

template <class F> inline float SumLong(const float* x, int64_t n, const F& f) {
  if (n <= kSumBlock) return SumRow(x, n, f);
  double total = 0;
  for (int64_t from = 0; from < n; from += kSumBlock)
    total += double{SumRow(x + from, MinOf(kSumBlock, n - from), f)};
  return static_cast<float>(total);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
