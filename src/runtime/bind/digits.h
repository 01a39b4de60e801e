// Exact sums of products of 8-bit integers with f32 kernels.
#pragma once
#include "ops/quant/quantized.h"
#include "runtime/bind/support.h"

namespace tern {

// f32 kernels add integers exactly as long as sums are at most 2^24. If sums may be larger, the second
// operand is written as a number with digits, b = d0 + base * (d1 + base * d2), where the digits have signs
// and are small. Each digit is multiplied by an f32 kernel, and the products are added as integers.
struct Digits {
  int count = 1;  // 0 means that the sums may be too large even with three digits
  int base = 1;

  // Replaces each integer by its digit `digit`. Digit 0 is the least significant one.
  void Keep(int digit, float* values, int64_t n, const Workers& workers) const;
  // Multiplies the sums by the base, and adds the products of the next digit. Digits are added from the most
  // to the least significant one.
  void Add(const float* products, int64_t n, int32_t* sums, const Workers& workers) const;
};

// Returns the digits of the second operand, whose dims are `b`. `has_zero` tells whether it has a zero point.
Digits DigitsOf(const QuantizedForm& form, const Attrs& attrs, const Dims& b, DType type, bool has_zero);

}  // namespace tern
