#include "kernels/cpu/quant/quant_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

#if defined(__AVX512BW__)
#include <immintrin.h>
#endif

namespace tern::cpu::TERN_SIMD {
namespace {

template <class T>
void ToInteger(const float* x, float scale, float zero, float low, float high, void* y, int64_t n) {
  T* out = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) {
    float v = __builtin_nearbyintf(x[i] / scale) + zero;
    v = v != v ? zero : v;
    v = v < low ? low : v;
    v = v > high ? high : v;
    out[i] = static_cast<T>(static_cast<int32_t>(v));
  }
}

template <class T> void FromInteger(const void* x, float zero, float scale, float* y, int64_t n) {
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) y[i] = (static_cast<float>(from[i]) - zero) * scale;
}

void Quantize(DType to, const float* x, float scale, float zero, void* y, int64_t n) {
  switch (to) {
    case DType::kI8:
      return ToInteger<int8_t>(x, scale, zero, -128.f, 127.f, y, n);
    case DType::kU8:
      return ToInteger<uint8_t>(x, scale, zero, 0.f, 255.f, y, n);
    case DType::kI16:
      return ToInteger<int16_t>(x, scale, zero, -32768.f, 32767.f, y, n);
    default:
      return ToInteger<uint16_t>(x, scale, zero, 0.f, 65535.f, y, n);
  }
}

void Dequantize(DType from, const void* x, float zero, float scale, float* y, int64_t n) {
  switch (from) {
    case DType::kI8:
      return FromInteger<int8_t>(x, zero, scale, y, n);
    case DType::kU8:
      return FromInteger<uint8_t>(x, zero, scale, y, n);
    case DType::kI16:
      return FromInteger<int16_t>(x, zero, scale, y, n);
    case DType::kU16:
      return FromInteger<uint16_t>(x, zero, scale, y, n);
    default:
      return FromInteger<int32_t>(x, zero, scale, y, n);
  }
}

void Range(const float* x, int64_t n, float* low, float* high) {
  constexpr int kLanes = 64;  // independent minima and maxima, so that the loop is vectorized
  float least[kLanes], most[kLanes];
  for (int j = 0; j < kLanes; ++j) least[j] = *low, most[j] = *high;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) {
      const float v = x[i + j];
      least[j] = v < least[j] ? v : least[j];
      most[j] = v > most[j] ? v : most[j];
    }
  for (; i < n; ++i) {
    least[0] = x[i] < least[0] ? x[i] : least[0];
    most[0] = x[i] > most[0] ? x[i] : most[0];
  }
  for (int j = 0; j < kLanes; ++j) {
    *low = least[j] < *low ? least[j] : *low;
    *high = most[j] > *high ? most[j] : *high;
  }
}

#if defined(__AVX512BW__)
// Selects the row of 16 elements by the upper four bits of x, and the element of the row by the lower ones.
inline __m512i LookupVector(const __m512i* rows, __m512i x) {
  const __m512i low = _mm512_and_si512(x, _mm512_set1_epi8(15)),
                high = _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15));
  __m512i y = _mm512_shuffle_epi8(rows[0], low);
  for (int row = 1; row < 16; ++row)
    y = _mm512_mask_shuffle_epi8(y, _mm512_cmpeq_epi8_mask(high, _mm512_set1_epi8(static_cast<char>(row))),
                                 rows[row], low);
  return y;
}

int64_t LookupVectors(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) {
  __m512i rows[16];
  for (int row = 0; row < 16; ++row) {
    uint8_t repeated[64];
    for (int i = 0; i < 4; ++i) __builtin_memcpy(repeated + 16 * i, table + 16 * row, 16);
    rows[row] = _mm512_loadu_si512(repeated);
  }
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) _mm512_storeu_si512(y + i, LookupVector(rows, _mm512_loadu_si512(x + i)));
  return i;
}
#else
int64_t LookupVectors(const uint8_t*, const uint8_t*, uint8_t*, int64_t) { return 0; }
#endif

void Lookup(const uint8_t* table, const uint8_t* x, uint8_t* y, int64_t n) {
  for (int64_t i = LookupVectors(table, x, y, n); i < n; ++i) y[i] = table[x[i]];
}

}  // namespace

const QuantTable kQuantSimd = {Quantize, Dequantize, Range, Lookup};

}  // namespace tern::cpu::TERN_SIMD
