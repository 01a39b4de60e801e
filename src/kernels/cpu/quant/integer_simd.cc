// This file is compiled with -ffp-contract=off, so that only explicit calls of fma are fused.
#include "kernels/cpu/quant/integer_simd.h"

#include "kernels/cpu/byte/byte_epilogue-inl.h"

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
template <class T> T ToByte(float v, float nan, const ByteRange& to) {
  v = v == v ? v : nan;
  return static_cast<T>(static_cast<int32_t>(__builtin_nearbyintf(Clamped(v, to.low, to.high)) + to.zero));
}

// y must not overlap the operands of f.
template <class F> void Quantize(const ByteRange& given, float nan, void* y, int64_t n, const F& function) {
  const ByteRange to = given;  // local, so that the compiler knows that stores to y do not change it
  const F f = function;
  if (to.type == DType::kI8) {
    auto* __restrict out = static_cast<int8_t*>(y);
    for (int64_t i = 0; i < n; ++i) out[i] = ToByte<int8_t>(f(i), nan, to);
  } else {
    auto* __restrict out = static_cast<uint8_t*>(y);
    for (int64_t i = 0; i < n; ++i) out[i] = ToByte<uint8_t>(f(i), nan, to);
  }
}

void Rescale(const ByteRange& to, const float* sums, int32_t bias, float multiplier, void* y, int64_t n) {
  Quantize(to, 0, y, n, [=](int64_t i) { return WithBias(sums[i], bias) * multiplier; });
}

void RescaleEach(const ByteRange& to, const float* sums, const int32_t* bias, const float* multiplier,
                 void* y, int64_t n) {
  Quantize(to, 0, y, n, [=](int64_t i) { return WithBias(sums[i], bias[i]) * multiplier[i]; });
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

// Calls f(a, b) for vectors of elements minus their zero points, and stores the rounded results.
template <class F>
void EachByteVector(const ByteRange& to, const ByteElements& a, float a_zero, const ByteElements& b,
                    float b_zero, void* y, int64_t n, const F& f) {
  const ByteReader read_a(a.type, a_zero), read_b(b.type, b_zero);
  const Rounding rounding(WithZeroPoint(to));
  const auto *p = static_cast<const uint8_t*>(a.data), *q = static_cast<const uint8_t*>(b.data);
  auto* out = static_cast<uint8_t*>(y);
  for (int64_t i = 0; i < n; i += kLanes<float>) {
    const int64_t count = MinOf<int64_t>(n - i, kLanes<float>);
    StoreBytes(out + i, rounding(f(read_a(LoadBytes(p + i, count)), read_b(LoadBytes(q + i, count)))), count);
  }
}

void SumBytes(const ByteRange& to, const ByteElements& a, float a_ratio, const ByteElements& b, float b_ratio,
              float offset, void* y, int64_t n) {
  EachByteVector(to, a, 0, b, 0, y, n, [=](Floats p, Floats q) {
    return FusedMultiplyAdd(p, a_ratio, FusedMultiplyAdd(q, b_ratio, All(offset)));
  });
}

void ProductBytes(const ByteRange& to, const ByteElements& a, float a_zero, const ByteElements& b,
                  float b_zero, float multiplier, void* y, int64_t n) {
  const float zero = to.zero;
  EachByteVector(to, a, a_zero, b, b_zero, y, n,
                 [=](Floats p, Floats q) { return p * q * multiplier + zero; });
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

const IntegerTable kIntegerSimd = {Rescale, RescaleEach, Sum, Product, SumBytes, ProductBytes, Total};

}  // namespace tern::cpu::TERN_SIMD
