// Vectors of W bytes for 8-bit kernels, for *_simd.cc files that are compiled with -ffp-contract=off. W is
// 16, 32 or 64, at most kVectorBytes.
//
// Interleave turns four vectors of W bytes into four vectors of dwords. It works within parts of 16 bytes, so
// the channels are permuted: lane 4 * part + i of vector v is channel 16 * part + 4 * v + i. SaturatedBytes
// restores the order.
#pragma once
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

template <int W> struct VectorTypes;
#define TERN_VECTOR_TYPES(W)                                     \
  template <> struct VectorTypes<W> {                            \
    typedef uint8_t Bytes __attribute__((vector_size(W)));       \
    typedef int16_t Shorts __attribute__((vector_size(W)));      \
    typedef uint16_t Unsigned16 __attribute__((vector_size(W))); \
    typedef int32_t Ints __attribute__((vector_size(W)));        \
    typedef uint32_t Unsigned32 __attribute__((vector_size(W))); \
    typedef float Floats __attribute__((vector_size(W)));        \
    typedef long long Raw __attribute__((vector_size(W)));       \
  };
TERN_VECTOR_TYPES(16)
TERN_VECTOR_TYPES(32)
TERN_VECTOR_TYPES(64)
#undef TERN_VECTOR_TYPES

// Instructions of all widths by the same name.
#if defined(__AVX512BW__)
#define TERN_ALL_WIDTHS(Name, name)                                         \
  inline __m128i Name(__m128i a, __m128i b) { return _mm_##name(a, b); }    \
  inline __m256i Name(__m256i a, __m256i b) { return _mm256_##name(a, b); } \
  inline __m512i Name(__m512i a, __m512i b) { return _mm512_##name(a, b); }
#elif defined(__AVX2__)
#define TERN_ALL_WIDTHS(Name, name)                                      \
  inline __m128i Name(__m128i a, __m128i b) { return _mm_##name(a, b); } \
  inline __m256i Name(__m256i a, __m256i b) { return _mm256_##name(a, b); }
#elif defined(__SSE2__)
#define TERN_ALL_WIDTHS(Name, name) \
  inline __m128i Name(__m128i a, __m128i b) { return _mm_##name(a, b); }
#endif
#if defined(__SSE2__)
TERN_ALL_WIDTHS(UnpackLow8, unpacklo_epi8)
TERN_ALL_WIDTHS(UnpackHigh8, unpackhi_epi8)
TERN_ALL_WIDTHS(UnpackLow16, unpacklo_epi16)
TERN_ALL_WIDTHS(UnpackHigh16, unpackhi_epi16)
TERN_ALL_WIDTHS(SaturateTo16, packs_epi32)
TERN_ALL_WIDTHS(SaturateTo8, packus_epi16)
TERN_ALL_WIDTHS(AddSaturated, adds_epi16)
TERN_ALL_WIDTHS(SmallerBytes, min_epu8)
TERN_ALL_WIDTHS(LargerBytes, max_epu8)
TERN_ALL_WIDTHS(AddPairProducts, madd_epi16)
#undef TERN_ALL_WIDTHS

// Rounds half to even. Numbers must be less than 2^31.
inline __m128i RoundToInts(__m128 v) { return _mm_cvtps_epi32(v); }
#endif
#if defined(__AVX2__)
inline __m256i RoundToInts(__m256 v) { return _mm256_cvtps_epi32(v); }
#endif
#if defined(__AVX512BW__)
inline __m512i RoundToInts(__m512 v) { return _mm512_maskz_cvtps_epi32(0xffff, v); }
#endif
#if defined(__AVX512VNNI__)
inline __m128i DotProducts(__m128i sum, __m128i x, __m128i w) { return _mm_dpbusd_epi32(sum, x, w); }
inline __m256i DotProducts(__m256i sum, __m256i x, __m256i w) { return _mm256_dpbusd_epi32(sum, x, w); }
inline __m512i DotProducts(__m512i sum, __m512i x, __m512i w) { return _mm512_dpbusd_epi32(sum, x, w); }
#elif defined(__AVXVNNI__)
inline __m128i DotProducts(__m128i sum, __m128i x, __m128i w) { return _mm_dpbusd_avx_epi32(sum, x, w); }
inline __m256i DotProducts(__m256i sum, __m256i x, __m256i w) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
#endif

template <int W> struct Lanes {
  using Types = VectorTypes<W>;
  using Bytes = typename Types::Bytes;
  using Shorts = typename Types::Shorts;
  using Ints = typename Types::Ints;
  using Floats = typename Types::Floats;

  static Bytes Load(const void* p) {
    Bytes v;
    __builtin_memcpy(&v, p, W);
    return v;
  }
  static void Store(void* p, Bytes v) { __builtin_memcpy(p, &v, W); }
  static Ints LoadInts(const int32_t* p) { return Ints(Load(p)); }
  static Floats LoadFloats(const float* p) { return Floats(Load(p)); }
  static Floats ToFloats(Ints v) { return __builtin_convertvector(v, Floats); }

#if defined(__SSE2__)
  using Raw = typename Types::Raw;

  static void Interleave(const Bytes (&x)[4], Bytes (&y)[4]) {
    const Raw low01 = UnpackLow8(Raw(x[0]), Raw(x[1])), high01 = UnpackHigh8(Raw(x[0]), Raw(x[1])),
              low23 = UnpackLow8(Raw(x[2]), Raw(x[3])), high23 = UnpackHigh8(Raw(x[2]), Raw(x[3]));
    y[0] = Bytes(UnpackLow16(low01, low23)), y[1] = Bytes(UnpackHigh16(low01, low23));
    y[2] = Bytes(UnpackLow16(high01, high23)), y[3] = Bytes(UnpackHigh16(high01, high23));
  }

  // Adds to each lane the dot product of its four u8 in x and its four i8 in w. Exact.
  static void AddDot(Ints& sum, Bytes x, const int8_t* w) {
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
    sum = Ints(DotProducts(Raw(sum), Raw(x), Raw(Load(w))));
#else
    const Shorts weights = Shorts(Load(w));
    sum += Ints(AddPairProducts(Raw(Shorts(x) & static_cast<int16_t>(255)), Raw((weights << 8) >> 8)));
    sum += Ints(AddPairProducts(Raw(typename Types::Unsigned16(x) >> 8), Raw(weights >> 8)));
#endif
  }

  // Returns round(v), in the type that Both expects. v must be less than 2^31.
  static Raw Rounded(Floats v) { return RoundToInts(v); }
  static Raw Both(Raw a, Raw b) { return SaturateTo16(a, b); }
  // A ByteSaturation in registers.
  struct Range {
    Raw zero, low, high, flip;
    bool narrow;  // narrower than u8, or i8
    explicit Range(const ByteSaturation& to)
        : zero(Raw(Shorts{} + to.zero)),
          low(Raw(Bytes{} + to.low)),
          high(Raw(Bytes{} + to.high)),
          flip(Raw(Bytes{} + to.flip)),
          narrow(to.low > 0 || to.high < 255 || to.flip != 0) {}
  };
  // Returns four vectors of rounded numbers plus the zero point, saturated, in the order of channels. `low`
  // is Both of the first two vectors.
  static Bytes SaturatedBytes(Raw low, Raw high, const Range& to) {
    Raw bytes = SaturateTo8(AddSaturated(low, to.zero), AddSaturated(high, to.zero));
    if (to.narrow) bytes = LargerBytes(SmallerBytes(bytes, to.high), to.low) ^ to.flip;
    return Bytes(bytes);
  }
#else
  static_assert(W == 16);
  static Bytes Low8(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
  static Bytes High8(Bytes a, Bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  static Bytes Low16(Bytes a, Bytes b) {
    return Bytes(__builtin_shufflevector(Shorts(a), Shorts(b), 0, 8, 1, 9, 2, 10, 3, 11));
  }
  static Bytes High16(Bytes a, Bytes b) {
    return Bytes(__builtin_shufflevector(Shorts(a), Shorts(b), 4, 12, 5, 13, 6, 14, 7, 15));
  }
  static void Interleave(const Bytes (&x)[4], Bytes (&y)[4]) {
    const Bytes low01 = Low8(x[0], x[1]), high01 = High8(x[0], x[1]), low23 = Low8(x[2], x[3]),
                high23 = High8(x[2], x[3]);
    y[0] = Low16(low01, low23), y[1] = High16(low01, low23);
    y[2] = Low16(high01, high23), y[3] = High16(high01, high23);
  }

  static void AddDot(Ints& sum, Bytes x, const int8_t* w) {
    using Unsigned = typename Types::Unsigned32;
    const auto pixels = Unsigned(x);
    const auto weights = Ints(Load(w));
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      sum += Ints(pixels << (24 - 8 * i) >> 24) * (Ints(Unsigned(weights) << (24 - 8 * i)) >> 24);
  }

  struct Raw {
    Floats v[2];
  };
  static Floats Rounded(Floats v) { return v; }
  static Raw Both(Floats a, Floats b) { return {{a, b}}; }
  using Range = ByteSaturation;
  static Bytes SaturatedBytes(const Raw& low, const Raw& high, const Range& to) {
    constexpr float kToInteger = 12582912.0f;  // see byte_epilogue-inl.h
    const float least = static_cast<float>(to.low - to.zero) + kToInteger,
                most = static_cast<float>(to.high - to.zero) + kToInteger;
    uint8_t y[W];
    for (int v = 0; v < 4; ++v) {
      Floats f = (v < 2 ? low : high).v[v % 2] + kToInteger;
      f = f < least ? Floats{} + least : f;
      f = f > most ? Floats{} + most : f;
      const Ints rounded = __builtin_convertvector(f - kToInteger, Ints) + to.zero;
      for (int i = 0; i < W / 4; ++i) y[i / 4 * 16 + 4 * v + i % 4] = static_cast<uint8_t>(rounded[i]);
    }
    return Load(y) ^ to.flip;
  }
#endif

  // Stores vector v of the sums as integers in the order of channels.
  static void StoreSums(Ints sum, int v, int32_t* to) {
    int32_t lanes[W / 4];
    __builtin_memcpy(lanes, &sum, W);
    for (int part = 0; part < W / 16; ++part) __builtin_memcpy(to + 16 * part + 4 * v, lanes + 4 * part, 16);
  }
};

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
