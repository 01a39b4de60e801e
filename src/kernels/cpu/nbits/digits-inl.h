// Rows of f32 as integers of 24 bits, for *_simd.cc files.
//
// Within a step of k, all elements of a row have one scale. An element is an integer of three digits of 8
// bits, and each digit is multiplied by the weights exactly. The rounding error is 2^-24 of the largest
// element of the step, about that of f32.
#pragma once
#include "kernels/cpu/nbits/scales-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// The integer that represents the largest element of a step. Its digits stay in [-128, 127] even if it is
// rounded up.
constexpr float kLargestInteger = 127 * 65536;
constexpr float kMinMagnitude = 1e-30f, kMaxMagnitude = 1e30f;

// Splits 32 or 16 elements into digits. Returns false if an element is NaN, if the largest magnitude exceeds
// kMaxMagnitude, or if it is below kMinMagnitude and not 0.
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

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
