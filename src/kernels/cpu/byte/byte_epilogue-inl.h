// Applies a ByteEpilogue to vectors of sums, for *_simd.cc files that are compiled with -ffp-contract=off.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;
typedef uint8_t LaneBytes __attribute__((vector_size(kLanes<float>)));  // one byte per lane

// A float plus kToInteger is rounded to an integer, ties to even. The lower byte of the result's bits is the
// lower byte of that integer. Numbers of 2^22 and more are rounded otherwise, but stay large.
constexpr float kToInteger = 12582912.0f;  // 1.5 * 2^23

inline Floats ToFloats(Ints v) { return __builtin_convertvector(v, Floats); }

// Loads n ints, 0 <= n <= lanes. The other lanes are zero.
inline Ints LoadInts(const int32_t* p, int64_t n = kLanes<float>) {
  if (n == kLanes<float>) return LoadVector(p);
  return Ints(LoadPart(reinterpret_cast<const float*>(p), n));
}

// Loads n bytes, 0 <= n <= lanes. The other lanes are zero.
inline LaneBytes LoadBytes(const void* p, int64_t n = kLanes<float>) {
  LaneBytes v = {};
  if (n == kLanes<float>)
    __builtin_memcpy(&v, p, sizeof v);
  else
    __builtin_memcpy(&v, p, static_cast<uint64_t>(n));
  return v;
}

// Stores n bytes, 0 <= n <= lanes.
inline void StoreBytes(uint8_t* p, LaneBytes v, int64_t n = kLanes<float>) {
  if (n == kLanes<float>)
    __builtin_memcpy(p, &v, sizeof v);
  else if (kLanes<float> > 8 && n == 8)
    __builtin_memcpy(p, &v, 8);
  else
    __builtin_memcpy(p, &v, static_cast<uint64_t>(n));
}

// Returns the lower byte of every lane.
inline LaneBytes LowerBytes(Floats v) {
#if defined(__AVX512F__)
  return LaneBytes(_mm512_maskz_cvtepi32_epi8(0xffff, __m512i(v)));
#elif defined(__AVX2__)
  constexpr char kSkip = -1;
  const __m256i order = _mm256_setr_epi8(0, 4, 8, 12, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip,
                                         kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, 0, 4, 8, 12,
                                         kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip, kSkip);
  const __m256i bytes = _mm256_shuffle_epi8(__m256i(v), order);  // bytes 0 to 3 and 20 to 23
  const __m128i both = _mm_or_si128(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  LaneBytes y;
  __builtin_memcpy(&y, &both, sizeof y);
  return y;
#elif defined(__SSE2__)
  const __m128i low = _mm_and_si128(__m128i(v), _mm_set1_epi32(255)), pairs = _mm_packs_epi32(low, low),
                bytes = _mm_packus_epi16(pairs, pairs);
  LaneBytes y;
  __builtin_memcpy(&y, &bytes, sizeof y);
  return y;
#else
  return __builtin_convertvector(Vector<uint32_t>(v), LaneBytes);
#endif
}

// Returns every byte as an integer from 0 to 255.
inline Ints WidenBytes(LaneBytes v) {
#if defined(__AVX512F__)
  return Ints(_mm512_maskz_cvtepu8_epi32(0xffff, __m128i(v)));
#elif defined(__AVX2__)
  __m128i bytes = _mm_setzero_si128();
  __builtin_memcpy(&bytes, &v, sizeof v);
  return Ints(_mm256_cvtepu8_epi32(bytes));
#elif defined(__SSE2__)
  int32_t bits;
  __builtin_memcpy(&bits, &v, sizeof bits);
  const __m128i zero = _mm_setzero_si128(), pairs = _mm_unpacklo_epi8(_mm_cvtsi32_si128(bits), zero);
  return Ints(_mm_unpacklo_epi16(pairs, zero));
#else
  return __builtin_convertvector(v, Ints);
#endif
}

// The range of 8-bit results, ready for use in registers.
struct Rounding {
  float low, high;
  uint8_t zero;
  explicit Rounding(const ByteRange& to)
      : low(to.low + kToInteger),
        high(to.high + kToInteger),
        zero(static_cast<uint8_t>(static_cast<int32_t>(to.zero))) {}

  // Returns the rounded numbers plus kToInteger, clamped.
  Floats Clamped(Floats v) const { return AtMost(AtLeast(v + kToInteger, low), high); }
  LaneBytes operator()(Floats v) const { return LowerBytes(Clamped(v)) + zero; }
};

// Returns the range for values that include the zero point already.
inline ByteRange WithZeroPoint(ByteRange to) {
  to.low += to.zero, to.high += to.zero, to.zero = 0;
  return to;
}

// Converts i8 or u8 elements to floats minus `zero`.
struct ByteReader {
  uint8_t flip;    // turns i8 into u8 with a zero point that is larger by 128
  int32_t offset;  // what is subtracted
  ByteReader(DType type, float zero)
      : flip(type == DType::kI8 ? 0x80 : 0), offset(flip + static_cast<int32_t>(zero)) {}
  Floats operator()(LaneBytes v) const { return ToFloats(WidenBytes(v ^ flip) - offset); }
};

inline Floats FusedMultiplyAdd(Floats a, float b, Floats c) {
#if defined(__AVX512F__)
  return Floats(_mm512_fmadd_ps(__m512(a), _mm512_set1_ps(b), __m512(c)));
#elif defined(__AVX2__)
  return Floats(_mm256_fmadd_ps(__m256(a), _mm256_set1_ps(b), __m256(c)));
#else
  Floats y;
  for (int i = 0; i < kLanes<float>; ++i) y[i] = __builtin_fmaf(a[i], b, c[i]);
  return y;
#endif
}

// The formula of ByteResidual::kAfterRounding for v = float(sum + bias) * scale.
inline LaneBytes AddRounded(const ByteEpilogue& e, Floats v, LaneBytes residual) {
  const Floats q = Rounding(e.inner).Clamped(v) - (kToInteger - e.inner.zero),
               r = ByteReader(e.residual_type, 0)(residual);
  const Floats a = e.residual_first ? r : q, b = e.residual_first ? q : r;
  const Floats sum = FusedMultiplyAdd(a, e.a_ratio, FusedMultiplyAdd(b, e.b_ratio, All(e.rest)));
  return Rounding(WithZeroPoint(e.to))(sum);
}

// Where the results of a row of sums go. `column` is the index of the first column.
struct ByteRow {
  int64_t column;
  const void* residual;
  void* c;
};

inline void FinishF32(const ByteEpilogue& e, const ByteRow& to, int64_t i, int64_t n, Ints sum) {
  Floats v = ToFloats(sum) * LoadPart(e.scale + to.column + i, n);
  if (e.f32_bias) v += LoadPart(e.f32_bias + to.column + i, n);
  if (e.f32_residual) v += LoadPart(static_cast<const float*>(to.residual) + i, n);
  if (e.clip) v = AtMost(AtLeast(v, e.low), e.high);
  StorePart(static_cast<float*>(to.c) + i, v, n);
}

inline void FinishBytes(const ByteEpilogue& e, const ByteRow& to, int64_t i, int64_t n, Ints sum) {
  Floats v = ToFloats(sum) * LoadPart(e.scale + to.column + i, n);
  uint8_t* y = static_cast<uint8_t*>(to.c) + i;
  if (e.residual_mode == ByteResidual::kNone) return StoreBytes(y, Rounding(e.to)(v), n);
  const LaneBytes residual = LoadBytes(static_cast<const uint8_t*>(to.residual) + i, n);
  if (e.residual_mode == ByteResidual::kAfterRounding) return StoreBytes(y, AddRounded(e, v, residual), n);
  v += ByteReader(e.residual_type, e.residual_zero)(residual) * e.residual_ratio;
  StoreBytes(y, Rounding(e.to)(v), n);
}

// Finishes n sums, which include the bias already.
inline void FinishRow(const ByteEpilogue& e, const ByteRow& to, const int32_t* sums, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes<float>) {
    const int64_t count = MinOf<int64_t>(n - i, kLanes<float>);
    const Ints sum = LoadInts(sums + i, count);
    if (e.output == ByteOutput::kBytes)
      FinishBytes(e, to, i, count, sum);
    else if (e.output == ByteOutput::kF32)
      FinishF32(e, to, i, count, sum);
    else
      StorePart(static_cast<float*>(to.c) + i, Floats(sum), count);
  }
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
