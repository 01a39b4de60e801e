// Functions of one f32, without branches, so that loops over them become vector code. A few units in the last
// place.
#pragma once
#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr float kInfinity = __builtin_inff();

inline float Absolute(float x) { return FloatOf(BitsOf(x) & 0x7fffffffu); }
inline float WithSignOf(float size, float sign) {
  return FloatOf((BitsOf(size) & 0x7fffffffu) | (BitsOf(sign) & 0x80000000u));
}

// NaN stays NaN throughout: comparisons with it are false and leave it in place.
inline float Exp(float x) {
  x = x < -104.f ? -104.f : x;
  x = x > 89.f ? 89.f : x;
  const float shifter = 12582912.f;  // 1.5 * 2^23: the sum's low bits are the rounded number
  const float shifted = x * 1.44269504f + shifter;
  const float n = shifted - shifter;
  const int32_t whole = static_cast<int32_t>(BitsOf(shifted) - BitsOf(shifter));
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.f;
  const int32_t half = whole >> 1;  // in two steps, so that 2^n itself need not exist
  const float low = FloatOf(static_cast<uint32_t>(half + 127) << 23),
              high = FloatOf(static_cast<uint32_t>(whole - half + 127) << 23);
  return p * low * high;
}

inline float Log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.f : x;
  const uint32_t bits = BitsOf(scaled);
  // m in [sqrt(1/2), sqrt(2))
  const uint32_t offset = bits - 0x3f3504f3u;
  const float m = FloatOf((offset & 0x007fffffu) + 0x3f3504f3u) - 1.f;
  const float e = static_cast<float>(static_cast<int32_t>(offset) >> 23) - (tiny ? 23.f : 0.f);
  const float z = m * m;
  float p = 7.0376836292e-2f;
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  float y = p * m * z + e * -2.12194440e-4f - 0.5f * z;
  y = m + y + e * 0.693359375f;
  y = x == 0.f ? -kInfinity : y;
  y = x < 0.f ? __builtin_nanf("") : y;
  y = x == kInfinity ? x : y;
  return x != x ? x : y;
}

// log(1 + u) for u in [0, 1]: what rounding of 1 + u lost is added again.
inline float LogOnePlus(float u) {
  const float w = 1.f + u;
  return Log(w) + (u - (w - 1.f)) / w;
}

inline float ExpMinusOne(float x) {
  float p = 1.f / 40320.f;
  p = p * x + 1.f / 5040.f;
  p = p * x + 1.f / 720.f;
  p = p * x + 1.f / 120.f;
  p = p * x + 1.f / 24.f;
  p = p * x + 1.f / 6.f;
  p = p * x + 0.5f;
  p = p * x * x + x;
  return Absolute(x) < 0.4f ? p : Exp(x) - 1.f;
}

inline float Tanh(float x) {
  const float size = Absolute(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  const float small = p * z * x + x;
  const float large = WithSignOf(1.f - 2.f / (Exp(2.f * size) + 1.f), x);
  const float y = size < 0.625f ? small : large;
  return x != x ? x : y;
}

inline float Sigmoid(float x) { return 1.f / (1.f + Exp(-x)); }

inline float Erf(float x) {
  float t = Absolute(x);
  const float s = x * x;
  t = t > 5.f ? 5.f : t;
  const float u = t * t;
  float r = (-1.72853470e-5f * t + 3.83197126e-4f) * u + (-3.88396438e-3f * t + 2.42546219e-2f);
  r = r * t - 1.06777877e-1f;
  r = r * t - 6.34846687e-1f;
  r = r * t - 1.28717512e-1f;
  r = r * t - t;
  const float large = WithSignOf(1.f - Exp(r), x);
  float p = -5.96761703e-4f;
  p = p * s + 4.99119423e-3f;
  p = p * s - 2.67681349e-2f;
  p = p * s + 1.12819925e-1f;
  p = p * s - 3.76125336e-1f;
  p = p * s + 1.28379166e-1f;
  const float y = t > 0.927734375f ? large : p * x + x;
  return x != x ? x : y;
}

inline float Softplus(float x) { return LogOnePlus(Exp(-Absolute(x))) + (x < 0.f ? 0.f : x); }

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
