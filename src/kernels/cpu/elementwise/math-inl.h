// Functions of a vector of f32, without branches. Each comment states the maximum error in ulp of the result,
// rounded up. docs/reports/accuracy.md has the measured errors, and elementwise/math_test.cc checks similar
// bounds. The result of NaN is NaN.
#pragma once
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

using Ints = Vector<int32_t>;
using Uints = Vector<uint32_t>;

constexpr float kInfinity = __builtin_inff();

inline Uints UintsOf(Floats x) { return Uints(x); }
inline Floats Absolute(Floats x) { return Floats(UintsOf(x) & 0x7fffffffu); }
inline Floats WithSignOf(Floats magnitude, Floats sign) {
  return Floats((UintsOf(magnitude) & 0x7fffffffu) | (UintsOf(sign) & 0x80000000u));
}

// Computes p * 2^n. `shifted` is n + kShifter. The low bits of `shifted` are the integer n. n may exceed the
// range of f32 exponents.
constexpr float kShifter = 12582912.f;  // 1.5 * 2^23: adding it rounds to integers
inline Floats TimesPowerOfTwo(Floats p, Floats shifted, [[maybe_unused]] Floats n) {
#if defined(__AVX512F__)
  (void)shifted;
  return Floats(_mm512_maskz_scalef_ps(0xffff, __m512(p), __m512(n)));
#else
  const Ints exponent = Ints(shifted) - static_cast<int32_t>(BitsOf(kShifter)), half = exponent >> 1;
  return p * Floats((half + 127) << 23) * Floats((exponent - half + 127) << 23);
#endif
}

// Maximum error: 2 ulp, or 1 ulp with fused multiply-adds.
inline Floats Exp(Floats x) {
  x = AtMost(AtLeast(x, -104.f), 89.f);
  const Floats shifted = x * 1.44269504f + kShifter, n = shifted - kShifter;
  const Floats r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  Floats p = All(1.3814598e-3f);
  p = p * r + 8.3687169e-3f;
  p = p * r + 4.1668388e-2f;
  p = p * r + 1.6666521e-1f;
  p = p * r + 4.9999993e-1f;
  p = p * r + 1.f;
  p = p * r + 1.f;
  return TimesPowerOfTwo(p, shifted, n);
}

// Maximum error: 1 ulp.
inline Floats Log(Floats x) {
  const Ints tiny = x < 1.17549435e-38f;
  const Uints bits = UintsOf(tiny ? x * 8388608.f : x);
  // m + 1 is in [sqrt(1/2), sqrt(2)).
  const Uints offset = bits - 0x3f3504f3u;
  const Floats m = Floats((offset & 0x007fffffu) + 0x3f3504f3u) - 1.f;
  const Floats e = __builtin_convertvector(Ints(offset) >> 23, Floats) - (tiny ? All(23.f) : All(0.f));
  const Floats z = m * m;
  Floats p = All(7.0376836292e-2f);
  p = p * m - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  Floats y = p * m * z + e * -2.12194440e-4f - 0.5f * z;
  y = m + y + e * 0.693359375f;
  y = x == 0.f ? All(-kInfinity) : y;
  y = x < 0.f ? All(__builtin_nanf("")) : y;
  y = x == kInfinity ? x : y;
  return x != x ? x : y;
}

// Computes log(1 + u) for u in [0, 1], corrected for the rounding of 1 + u. Maximum error: 2 ulp.
inline Floats LogOnePlus(Floats u) {
  const Floats w = 1.f + u;
  return Log(w) + (u - (w - 1.f)) / w;
}

// Maximum error: 2 ulp.
inline Floats ExpMinusOne(Floats x) {
  Floats p = All(1.f / 40320.f);
  p = p * x + 1.f / 5040.f;
  p = p * x + 1.f / 720.f;
  p = p * x + 1.f / 120.f;
  p = p * x + 1.f / 24.f;
  p = p * x + 1.f / 6.f;
  p = p * x + 0.5f;
  p = p * x * x + x;
  return Absolute(x) < 0.4f ? p : Exp(x) - 1.f;
}

// Uses a rational approximation. Outside the range of the approximation, tanh is 1 or -1 in f32. Maximum
// error: 7 ulp.
inline Floats Tanh(Floats x) {
  const Floats t = AtMost(AtLeast(x, -7.99881172f), 7.99881172f), z = t * t;
  Floats p = All(-2.76076847742355e-16f);
  p = p * z + 2.00018790482477e-13f;
  p = p * z - 8.60467152213735e-11f;
  p = p * z + 5.12229709037114e-08f;
  p = p * z + 1.48572235717979e-05f;
  p = p * z + 6.37261928875436e-04f;
  p = p * z + 4.89352455891786e-03f;
  Floats q = All(1.19825839466702e-06f);
  q = q * z + 1.18534705686654e-04f;
  q = q * z + 2.26843463243900e-03f;
  q = q * z + 4.89352518554385e-03f;
  const Floats y = t * (p / q);
  // For |x| > 7.99, y differs from 1 or -1 by rounding errors, so exactly 1 or -1 is returned there.
  const Floats magnitude = Absolute(x);
  return magnitude < 4e-4f ? x : (magnitude > 7.99f ? WithSignOf(All(1.f), x) : y);
}

// Maximum error: 3 ulp.
inline Floats Sigmoid(Floats x) { return 1.f / (1.f + Exp(-x)); }

// Uses a rational approximation. Outside the range of the approximation, erf is 1 or -1 in f32. Maximum
// error: 8 ulp.
inline Floats Erf(Floats x) {
  const Floats t = AtMost(AtLeast(x, -4.f), 4.f), z = t * t;
  Floats p = All(-2.72614225801306e-10f);
  p = p * z + 2.77068142495902e-08f;
  p = p * z - 2.10102402082508e-06f;
  p = p * z - 5.69250639462346e-05f;
  p = p * z - 7.34990630326855e-04f;
  p = p * z - 2.95459980854025e-03f;
  p = p * z - 1.60960333262415e-02f;
  Floats q = All(-1.45660718464996e-05f);
  q = q * z - 2.13374055278905e-04f;
  q = q * z - 1.68282697438203e-03f;
  q = q * z - 7.37332916720468e-03f;
  q = q * z - 1.42647390514189e-02f;
  return AtMost(AtLeast(t * (p / q), -1.f), 1.f);
}

#if defined(__AVX512F__)
// Coefficients of 16 polynomials in t = 2.75 x - i. Polynomial i approximates erf(x / sqrt(2)) / 2 around x =
// i / 2.75, with an error below 1.5e-8. kHalfErf[power][i] is the coefficient of t^power.
alignas(64) constexpr float kHalfErf[6][16] = {
    {0.f, 0.141935214f, 0.266470551f, 0.36234355f, 0.427102417f, 0.465481818f, 0.485438526f, 0.494543225f,
     0.498187602f, 0.499467432f, 0.499861747f, 0.49996832f, 0.499993593f, 0.499998868f, 0.499999821f, 0.5f},
    {0.145069912f, 0.135788724f, 0.111358307f, 0.0800118297f, 0.050368432f, 0.027780192f, 0.0134240855f,
     0.00568338111f, 0.00210814993f, 0.000685123552f, 0.000195078304f, 4.86655736e-05f, 1.06367161e-05f,
     2.03688387e-06f, 3.41741782e-07f, 5.0234636e-08f},
    {0.f, -0.00897755753f, -0.0147248162f, -0.0158699937f, -0.0133206146f, -0.00918364618f, -0.00532534719f,
     -0.00263036066f, -0.0011150511f, -0.000407661195f, -0.00012896469f, -3.53863943e-05f, -8.43631915e-06f,
     -1.74982586e-06f, -3.16086982e-07f, -4.97667934e-08f},
    {-0.00319707883f, -0.00259684306f, -0.00115611334f, 0.000335143588f, 0.00123845495f, 0.00141167967f,
     0.00111249578f, 0.000686318381f, 0.000346732122f, 0.000146624356f, 5.25489777e-05f, 1.60866093e-05f,
     4.22858557e-06f, 9.5802875e-07f, 1.87590402e-07f, 3.18126929e-08f},
    {0.f, 0.000281475077f, 0.000398286473f, 0.00031520988f, 0.000130202403f, -2.97572806e-05f,
     -0.000102334554f, -0.000100470847f, -6.71609523e-05f, -3.48061076e-05f, -1.46647517e-05f,
     -5.14177373e-06f, -1.52060863e-06f, -3.82575365e-07f, -8.23681532e-08f, -1.52396602e-08f},
    {6.29792776e-05f, 4.37524723e-05f, 1.82874953e-06f, -3.14563586e-05f, -3.80686033e-05f, -2.38749035e-05f,
     -5.76273624e-06f, 4.96402845e-06f, 7.28044552e-06f, 5.33284447e-06f, 2.81067651e-06f, 1.16521301e-06f,
     3.94452371e-07f, 1.11224495e-07f, 2.64394107e-08f, 5.34080646e-09f},
};
#endif

// Maximum error for x > 0: 4 ulp, or 1 ulp with AVX-512. For x < 0 the absolute error is up to 1.1e-6,
// because of cancellation.
inline Floats Gelu(Floats x) {
#if defined(__AVX512F__)
  const Floats magnitude = Absolute(x), a = AtMost(magnitude, 5.6f);
  const Floats shifted = a * 2.75f + kShifter, t = a * 2.75f - (shifted - kShifter);
  const __m512i i = __m512i(shifted);  // the low bits are the index
  const auto at = [&](int power) {
    return Floats(_mm512_maskz_permutexvar_ps(0xffff, i, _mm512_load_ps(kHalfErf[power])));
  };
  Floats p = at(5);
  p = p * t + at(4);
  p = p * t + at(3);
  p = p * t + at(2);
  p = p * t + at(1);
  p = p * t + at(0);
  return magnitude * p + 0.5f * x;
#else
  return x * (0.5f * Erf(x * 0.707106781f) + 0.5f);
#endif
}

// Maximum error: 2 ulp.
inline Floats Softplus(Floats x) { return LogOnePlus(Exp(-Absolute(x))) + (x < 0.f ? All(0.f) : x); }

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
