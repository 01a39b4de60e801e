// The inner loops over pixels with AVX2. Each function has a target attribute. So the file needs no flags,
// and inline functions of headers are compiled for the default target.
#include "data/image/pixel_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#define TERN_AVX2 [[gnu::target("avx2,fma")]]
#define TERN_AVX2_INLINE [[gnu::target("avx2,fma"), gnu::always_inline]] inline

namespace tern::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// Adds the halves, rounds and shifts. The result is not clipped.
TERN_AVX2_INLINE __m256i Finish(__m256i low, __m256i high) {
  return _mm256_srai_epi32(_mm256_add_epi32(low, _mm256_slli_epi32(high, kLowBits)), kWeightBits);
}

TERN_AVX2_INLINE int32_t PairAt(const int16_t* weights) {
  int32_t pair;
  std::memcpy(&pair, weights, sizeof pair);
  return pair;
}

TERN_AVX2_INLINE __m256i TwoRows(const uint8_t* a, const uint8_t* b) {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a))),
                                 _mm_loadu_si128(reinterpret_cast<const __m128i*>(b)), 1);
}

TERN_AVX2_INLINE void AddPairs(__m256i pixels, __m256i low, __m256i high, __m256i sums[2]) {
  sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(pixels, low));
  sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(pixels, high));
}

TERN_AVX2_INLINE void StorePixel(uint8_t* out, int pixel) { std::memcpy(out, &pixel, sizeof pixel); }

// Each 128-bit lane computes one row. Its four sums are red, green, blue and an unused one. A step takes four
// taps: 12 of the 16 bytes that it loads.
TERN_AVX2 void Horizontal3(const uint8_t* const rows[4], const Taps& taps, uint8_t* const out[4]) {
  const __m256i first_two =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  const __m256i next_two =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
  for (int i = 0; i < taps.outputs; ++i) {
    const auto at = static_cast<size_t>(i);
    size_t offset = static_cast<size_t>(taps.first[at]) * 3;
    const int16_t *low = taps.low.data() + at * taps.stride, *high = taps.high.data() + at * taps.stride;
    __m256i upper[2] = {_mm256_set1_epi32(kHalf), _mm256_setzero_si256()}, lower[2] = {upper[0], upper[1]};
    for (int k = 0; k < taps.count[at]; k += 4, offset += 12) {
      const __m256i ab = TwoRows(rows[0] + offset, rows[1] + offset),
                    cd = TwoRows(rows[2] + offset, rows[3] + offset);
      const __m256i low0 = _mm256_set1_epi32(PairAt(low + k)), high0 = _mm256_set1_epi32(PairAt(high + k));
      AddPairs(_mm256_shuffle_epi8(ab, first_two), low0, high0, upper);
      AddPairs(_mm256_shuffle_epi8(cd, first_two), low0, high0, lower);
      const __m256i low1 = _mm256_set1_epi32(PairAt(low + k + 2)),
                    high1 = _mm256_set1_epi32(PairAt(high + k + 2));
      AddPairs(_mm256_shuffle_epi8(ab, next_two), low1, high1, upper);
      AddPairs(_mm256_shuffle_epi8(cd, next_two), low1, high1, lower);
    }
    const __m256i words = _mm256_packs_epi32(Finish(upper[0], upper[1]), Finish(lower[0], lower[1]));
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i even = _mm256_castsi256_si128(bytes), odd = _mm256_extracti128_si256(bytes, 1);
    StorePixel(out[0] + 3 * at, _mm_cvtsi128_si32(even));
    StorePixel(out[1] + 3 * at, _mm_cvtsi128_si32(odd));
    StorePixel(out[2] + 3 * at, _mm_extract_epi32(even, 1));
    StorePixel(out[3] + 3 * at, _mm_extract_epi32(odd, 1));
  }
}

TERN_AVX2_INLINE int32_t Total(__m256i v) {
  __m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
  s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1)));
}

TERN_AVX2 void Horizontal1(const uint8_t* row, const Taps& taps, uint8_t* out) {
  for (int i = 0; i < taps.outputs; ++i) {
    const auto at = static_cast<size_t>(i);
    const uint8_t* p = row + taps.first[at];
    const int16_t *low = taps.low.data() + at * taps.stride, *high = taps.high.data() + at * taps.stride;
    __m256i sums[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int k = 0; k < taps.count[at]; k += kTapBlock)
      AddPairs(_mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + k))),
               _mm256_loadu_si256(reinterpret_cast<const __m256i*>(low + k)),
               _mm256_loadu_si256(reinterpret_cast<const __m256i*>(high + k)), sums);
    const int32_t sum =
        (Total(_mm256_add_epi32(sums[0], _mm256_slli_epi32(sums[1], kLowBits))) + kHalf) >> kWeightBits;
    out[at] = static_cast<uint8_t>(sum < 0 ? 0 : sum > 255 ? 255 : sum);
  }
}

// Computes 32 bytes. Rows are taken in pairs: bytes of both rows are interleaved and widened to 16 bits.
TERN_AVX2_INLINE void VerticalBlock(const uint8_t* const* rows, int count, const int16_t* low,
                                    const int16_t* high, size_t at, uint8_t* out) {
  const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(kHalf);
  __m256i sums[4][2] = {{half, zero}, {half, zero}, {half, zero}, {half, zero}};
  for (int k = 0; k < count; k += 2) {
    const uint8_t* second = rows[k + 1 < count ? k + 1 : k];  // the weight after the last one is 0
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[k] + at)),
                  b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(second + at));
    const __m256i l = _mm256_set1_epi32(PairAt(low + k)), h = _mm256_set1_epi32(PairAt(high + k));
    const __m256i ab = _mm256_unpacklo_epi8(a, b), cd = _mm256_unpackhi_epi8(a, b);
    AddPairs(_mm256_unpacklo_epi8(ab, zero), l, h, sums[0]);
    AddPairs(_mm256_unpackhi_epi8(ab, zero), l, h, sums[1]);
    AddPairs(_mm256_unpacklo_epi8(cd, zero), l, h, sums[2]);
    AddPairs(_mm256_unpackhi_epi8(cd, zero), l, h, sums[3]);
  }
  const __m256i words0 = _mm256_packs_epi32(Finish(sums[0][0], sums[0][1]), Finish(sums[1][0], sums[1][1])),
                words1 = _mm256_packs_epi32(Finish(sums[2][0], sums[2][1]), Finish(sums[3][0], sums[3][1]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at), _mm256_packus_epi16(words0, words1));
}

TERN_AVX2 void Vertical(const uint8_t* const* rows, int count, const int16_t* low, const int16_t* high,
                        size_t bytes, uint8_t* out) {
  if (bytes < 32) return kBasePixelKernels.vertical(rows, count, low, high, bytes, out);
  for (size_t at = 0; at + 32 <= bytes; at += 32) VerticalBlock(rows, count, low, high, at, out);
  if (bytes % 32) VerticalBlock(rows, count, low, high, bytes - 32, out);
}

// Picks one channel of 8 RGB pixels from the bytes 0 to 15 and 8 to 23.
struct Picks {
  __m128i head, tail;
};

TERN_AVX2_INLINE Picks PicksOf(int c) {
  alignas(16) int8_t head[16], tail[16];
  std::memset(head, -1, sizeof head);
  std::memset(tail, -1, sizeof tail);
  for (int x = 0; x < 8; ++x) {
    const int at = 3 * x + c;
    if (at < 16)
      head[x] = static_cast<int8_t>(at);
    else
      tail[x] = static_cast<int8_t>(at - 8);
  }
  return {_mm_load_si128(reinterpret_cast<const __m128i*>(head)),
          _mm_load_si128(reinterpret_cast<const __m128i*>(tail))};
}

TERN_AVX2_INLINE __m256 ToFloat(__m128i bytes) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)); }

TERN_AVX2 void Planes3(const uint8_t* rgb, size_t width, const float scale[3], const float shift[3],
                       float* const plane[3]) {
  size_t x = 0;
  Picks picks[3];
  for (int c = 0; c < 3; ++c) picks[c] = PicksOf(c);
  for (; x + 8 <= width; x += 8) {
    const auto* p = reinterpret_cast<const __m128i*>(rgb + 3 * x);
    const __m128i head = _mm_loadu_si128(p),
                  tail = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rgb + 3 * x + 8));
    for (int c = 0; c < 3; ++c) {
      const __m128i bytes =
          _mm_or_si128(_mm_shuffle_epi8(head, picks[c].head), _mm_shuffle_epi8(tail, picks[c].tail));
      _mm256_storeu_ps(plane[c] + x,
                       _mm256_fmadd_ps(ToFloat(bytes), _mm256_set1_ps(scale[c]), _mm256_set1_ps(shift[c])));
    }
  }
  for (; x < width; ++x)
    for (size_t c = 0; c < 3; ++c) plane[c][x] = rgb[3 * x + c] * scale[c] + shift[c];
}

TERN_AVX2 void Scale3(const uint8_t* in, size_t count, const float scale[3], const float shift[3],
                      float* out) {
  alignas(32) float scales[24], shifts[24];
  for (size_t i = 0; i < 24; ++i) {
    scales[i] = scale[i % 3];
    shifts[i] = shift[i % 3];
  }
  size_t i = 0;
  for (; i + 24 <= count; i += 24)
    for (size_t part = 0; part < 24; part += 8) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i + part));
      _mm256_storeu_ps(out + i + part, _mm256_fmadd_ps(ToFloat(bytes), _mm256_load_ps(scales + part),
                                                       _mm256_load_ps(shifts + part)));
    }
  for (; i < count; ++i) out[i] = in[i] * scale[i % 3] + shift[i % 3];
}

const PixelKernels kAvx2PixelKernels{"avx2", Horizontal3, Horizontal1, Vertical, Planes3, Scale3};

}  // namespace

const PixelKernels* Avx2PixelKernels() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kAvx2PixelKernels : nullptr;
}

}  // namespace tern::data

#else
namespace tern::data {
const PixelKernels* Avx2PixelKernels() { return nullptr; }
}  // namespace tern::data
#endif
