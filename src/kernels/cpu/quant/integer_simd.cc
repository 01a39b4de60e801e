// This file is compiled with -ffp-contract=off, so that only explicit calls of fma are fused.
#include "kernels/cpu/quant/integer_simd.h"

namespace tern::cpu::TERN_SIMD {
namespace {

float Clamped(float v, float low, float high) {
  v = v < low ? low : v;
  return v > high ? high : v;
}

// Computes the sum in double and rounds it once to float.
float WithBias(float sum, int32_t bias) {
  return static_cast<float>(static_cast<double>(sum) + static_cast<double>(bias));
}

// Returns `nan` in place of NaN.
template <class T> T Rounded(float v, float nan, const ByteRange& to) {
  v = v == v ? v : nan;
  return static_cast<T>(static_cast<int32_t>(__builtin_nearbyintf(Clamped(v, to.low, to.high)) + to.zero));
}

// y must not overlap the operands of f.
template <class F> void Quantize(const ByteRange& given, float nan, void* y, int64_t n, const F& function) {
  const ByteRange to = given;  // local, so that the compiler knows that stores to y do not change it
  const F f = function;
  if (to.type == DType::kI8) {
    auto* __restrict out = static_cast<int8_t*>(y);
    for (int64_t i = 0; i < n; ++i) out[i] = Rounded<int8_t>(f(i), nan, to);
  } else {
    auto* __restrict out = static_cast<uint8_t*>(y);
    for (int64_t i = 0; i < n; ++i) out[i] = Rounded<uint8_t>(f(i), nan, to);
  }
}

void Rescale(const ByteRange& to, const float* sums, int32_t bias, float multiplier, void* y, int64_t n) {
  Quantize(to, 0, y, n, [=](int64_t i) { return WithBias(sums[i], bias) * multiplier; });
}

void RescaleEach(const ByteRange& to, const float* sums, const int32_t* bias, const float* multiplier,
                 void* y, int64_t n) {
  Quantize(to, 0, y, n, [=](int64_t i) { return WithBias(sums[i], bias[i]) * multiplier[i]; });
}

// Returns the range for values to which the zero point is already added.
ByteRange WithZeroPoint(ByteRange to) {
  to.low += to.zero, to.high += to.zero, to.zero = 0;
  return to;
}

void Sum(const ByteRange& to, const float* a, float a_ratio, const float* b, float b_ratio, float offset,
         void* y, int64_t n) {
  Quantize(WithZeroPoint(to), to.zero, y, n,
           [=](int64_t i) { return __builtin_fmaf(a[i], a_ratio, __builtin_fmaf(b[i], b_ratio, offset)); });
}

void Product(const ByteRange& to, const float* a, const float* b, float multiplier, void* y, int64_t n) {
  const float zero = to.zero;
  Quantize(WithZeroPoint(to), zero, y, n, [=](int64_t i) { return a[i] * b[i] * multiplier + zero; });
}

template <class T> int32_t TotalOf(const void* x, int64_t n) {
  const T* from = static_cast<const T*>(x);
  int32_t total = 0;
  for (int64_t i = 0; i < n; ++i) total += from[i];
  return total;
}

int32_t Total(DType type, const void* x, int64_t n) {
  return type == DType::kI8 ? TotalOf<int8_t>(x, n) : TotalOf<uint8_t>(x, n);
}

}  // namespace

const IntegerTable kIntegerSimd = {Rescale, RescaleEach, Sum, Product, Total};

}  // namespace tern::cpu::TERN_SIMD
