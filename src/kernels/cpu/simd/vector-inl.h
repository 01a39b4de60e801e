// Vectors and element conversions for *_simd.cc files, compiled once per instruction set level.
#pragma once
#include <cstdint>

#include "kernels/cpu/simd/simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T> struct VectorOf { typedef T Type __attribute__((vector_size(kVectorBytes))); };
template <class T> using Vector = typename VectorOf<T>::Type;
template <class T> constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T> inline Vector<T> LoadVector(const T* p) {
  Vector<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <class T> inline void StoreVector(T* p, Vector<T> v) { __builtin_memcpy(p, &v, sizeof v); }

template <class T> inline T MinOf(T a, T b) { return b < a ? b : a; }
template <class T> inline T MaxOf(T a, T b) { return a < b ? b : a; }

inline uint32_t BitsOf(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, 4);
  return bits;
}
inline float FloatOf(uint32_t bits) {
  float v;
  __builtin_memcpy(&v, &bits, 4);
  return v;
}

// f16 and bf16 as bits. Conversions are branch-free, so that compilers vectorize loops over them.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

inline float Widen(Half h) {
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16, magnitude = (h.bits & 0x7fffu);
  const uint32_t shifted = (magnitude << 13) + ((127u - 15u) << 23);
  const uint32_t special = shifted + ((128u - 16u) << 23);                            // infinity and NaN
  const uint32_t tiny = BitsOf(FloatOf(shifted + (1u << 23)) - FloatOf(113u << 23));  // zero and subnormals
  const uint32_t exponent = magnitude & 0x7c00u;
  const uint32_t bits = exponent == 0x7c00u ? special : exponent == 0 ? tiny : shifted;
  return FloatOf(bits | sign);
}
inline float Widen(BFloat h) { return FloatOf(static_cast<uint32_t>(h.bits) << 16); }

// Rounds to the nearest f16, ties to even.
inline Half ToHalf(float v) {
  const uint32_t bits = BitsOf(v), sign = bits & 0x80000000u, magnitude = bits ^ sign;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  const uint32_t tiny = BitsOf(FloatOf(magnitude) + FloatOf(126u << 23)) - (126u << 23);
  const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t out = magnitude >= (143u << 23) ? special : magnitude < (113u << 23) ? tiny : normal;
  return {static_cast<uint16_t>(out | (sign >> 16))};
}
inline BFloat ToBFloat(float v) {
  const uint32_t bits = BitsOf(v);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return {static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded)};
}

// Converts an element from its storage type S to the compute type T, and back.
template <class T, class S> inline T ValueOf(S s) { return static_cast<T>(s); }
template <> inline float ValueOf<float, Half>(Half s) { return Widen(s); }
template <> inline float ValueOf<float, BFloat>(BFloat s) { return Widen(s); }
template <class S, class T> inline S StoredAs(T v) { return static_cast<S>(v); }
template <> inline Half StoredAs<Half, float>(float v) { return ToHalf(v); }
template <> inline BFloat StoredAs<BFloat, float>(float v) { return ToBFloat(v); }

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
