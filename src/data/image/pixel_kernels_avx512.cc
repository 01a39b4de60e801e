// The inner loops over pixels with AVX-512 (F and BW). Rows shorter than a vector are left to AVX2.
#include "data/image/pixel_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>

#define TERN_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma")]]
#define TERN_AVX512_INLINE \
  [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,avx2,fma"), gnu::always_inline]] inline

namespace tern::data {
namespace {

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

TERN_AVX512_INLINE __m512i Finish(__m512i low, __m512i high) {
  return _mm512_srai_epi32(_mm512_add_epi32(low, _mm512_slli_epi32(high, kLowBits)), kWeightBits);
}

TERN_AVX512_INLINE int32_t PairAt(const int16_t* weights) {
  int32_t pair;
  std::memcpy(&pair, weights, sizeof pair);
  return pair;
}

TERN_AVX512_INLINE __m128i Load16(const uint8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

TERN_AVX512_INLINE void AddPairs(__m512i pixels, __m512i low, __m512i high, __m512i sums[2]) {
  sums[0] = _mm512_add_epi32(sums[0], _mm512_madd_epi16(pixels, low));
  sums[1] = _mm512_add_epi32(sums[1], _mm512_madd_epi16(pixels, high));
}

TERN_AVX512_INLINE __m512i FourRows(const uint8_t* const rows[4], size_t at) {
  const __m256i ab = _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(rows[0] + at)),
                                             Load16(rows[1] + at), 1),
                cd = _mm256_inserti128_si256(_mm256_castsi128_si256(Load16(rows[2] + at)),
                                             Load16(rows[3] + at), 1);
  return _mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1);
}

// Each 128-bit lane computes one row. Its four sums are red, green, blue and an unused one. A step takes four
// taps: 12 of the 16 bytes that it loads.
TERN_AVX512 void Horizontal3(const uint8_t* const rows[4], const Taps& taps, uint8_t* const out[4]) {
  const __m512i first_two =
      _mm512_broadcast_i32x4(_mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
  const __m512i next_two =
      _mm512_broadcast_i32x4(_mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
  for (int i = 0; i < taps.outputs; ++i) {
    const auto at = static_cast<size_t>(i);
    size_t offset = static_cast<size_t>(taps.first[at]) * 3;
    const int16_t *low = taps.low.data() + at * taps.stride, *high = taps.high.data() + at * taps.stride;
    __m512i sums[2] = {_mm512_set1_epi32(kHalf), _mm512_setzero_si512()};
    for (int k = 0; k < taps.count[at]; k += 4, offset += 12) {
      const __m512i pixels = FourRows(rows, offset);
      AddPairs(_mm512_shuffle_epi8(pixels, first_two), _mm512_set1_epi32(PairAt(low + k)),
               _mm512_set1_epi32(PairAt(high + k)), sums);
      AddPairs(_mm512_shuffle_epi8(pixels, next_two), _mm512_set1_epi32(PairAt(low + k + 2)),
               _mm512_set1_epi32(PairAt(high + k + 2)), sums);
    }
    const __m512i clipped = _mm512_max_epi32(Finish(sums[0], sums[1]), _mm512_setzero_si512());
    const __m128i bytes = _mm512_cvtusepi32_epi8(clipped);
    alignas(16) uint8_t pixels[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(pixels), bytes);
    for (int r = 0; r < 4; ++r) std::memcpy(out[r] + 3 * at, pixels + 4 * r, 4);
  }
}

// Computes 64 bytes. Rows are taken in pairs: bytes of both rows are interleaved and widened to 16 bits.
TERN_AVX512_INLINE void VerticalBlock(const uint8_t* const* rows, int count, const int16_t* low,
                                      const int16_t* high, size_t at, uint8_t* out) {
  const __m512i zero = _mm512_setzero_si512(), half = _mm512_set1_epi32(kHalf);
  __m512i sums[4][2] = {{half, zero}, {half, zero}, {half, zero}, {half, zero}};
  for (int k = 0; k < count; k += 2) {
    const uint8_t* second = rows[k + 1 < count ? k + 1 : k];  // the weight after the last one is 0
    const __m512i a = _mm512_loadu_si512(rows[k] + at), b = _mm512_loadu_si512(second + at);
    const __m512i l = _mm512_set1_epi32(PairAt(low + k)), h = _mm512_set1_epi32(PairAt(high + k));
    const __m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpackhi_epi8(a, b);
    AddPairs(_mm512_unpacklo_epi8(ab, zero), l, h, sums[0]);
    AddPairs(_mm512_unpackhi_epi8(ab, zero), l, h, sums[1]);
    AddPairs(_mm512_unpacklo_epi8(cd, zero), l, h, sums[2]);
    AddPairs(_mm512_unpackhi_epi8(cd, zero), l, h, sums[3]);
  }
  const __m512i words0 = _mm512_packs_epi32(Finish(sums[0][0], sums[0][1]), Finish(sums[1][0], sums[1][1])),
                words1 = _mm512_packs_epi32(Finish(sums[2][0], sums[2][1]), Finish(sums[3][0], sums[3][1]));
  _mm512_storeu_si512(out + at, _mm512_packus_epi16(words0, words1));
}

TERN_AVX512 void Vertical(const uint8_t* const* rows, int count, const int16_t* low, const int16_t* high,
                          size_t bytes, uint8_t* out) {
  if (bytes < 64) return Avx2PixelKernels()->vertical(rows, count, low, high, bytes, out);
  for (size_t at = 0; at + 64 <= bytes; at += 64) VerticalBlock(rows, count, low, high, at, out);
  if (bytes % 64) VerticalBlock(rows, count, low, high, bytes - 64, out);
}

}  // namespace

const PixelKernels* Avx512PixelKernels() {
  static const PixelKernels* kernels = []() -> const PixelKernels* {
    const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (!has || !Avx2PixelKernels()) return nullptr;
    static PixelKernels made = *Avx2PixelKernels();
    made.name = "avx512";
    made.horizontal3 = Horizontal3;
    made.vertical = Vertical;
    return &made;
  }();
  return kernels;
}

}  // namespace tern::data

#else
namespace tern::data {
const PixelKernels* Avx512PixelKernels() { return nullptr; }
}  // namespace tern::data
#endif
