// Quantization of f32 to 8- or 16-bit integers, and dequantization.
#pragma once
#include "base/dtype.h"
#include "base/thread_pool.h"

namespace tern::cpu {

// x is [outer, length, inner]. There are three cases. If `single`, all elements have one scale. If block is
// 0, each position along `length` has one scale. In all other cases, `block` consecutive positions along
// `length` share a scale, and each pair of an outer and an inner index has its own scales.
struct QuantShape {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t block = 0;  // 0 means not blocked
  bool single = true;
};

bool HasQuant(DType type);  // returns true for i8, u8, i16 and u16
// `zero` is an array of zero points of type `to`, one per scale. If `zero` is null, all zero points are 0.
void QuantizeF32(const QuantShape& s, DType to, const float* x, const float* scale, const void* zero, void* y,
                 const Workers& workers);
// `from` is i8, u8, i16, u16 or i32.
void DequantizeF32(const QuantShape& s, DType from, const void* x, const float* scale, const void* zero,
                   float* y, const Workers& workers);

// One scale and zero point for all elements of a tensor of i8, u8, i16 or u16.
struct QuantParameters {
  DType type = DType::kU8;
  float scale = 1, zero = 0;
};
struct QuantSource {
  QuantParameters parameters;
  const void* data = nullptr;
};
// Dequantizes n elements of x to f32 and quantizes them to y.
void Requantize(int64_t n, const QuantSource& x, const QuantParameters& to, void* y, const Workers& workers);

// y[i] = table[x[i]] for 8-bit elements. The table has 256 elements.
void LookupBytes(const void* table, const void* x, void* y, int64_t n, const Workers& workers);

// The minimum and maximum of n elements and 0. NaN is ignored.
struct FloatRange {
  float low = 0, high = 0;
};
FloatRange RangeOf(const float* x, int64_t n, const Workers& workers);

}  // namespace tern::cpu
