// Real numbers to narrow integers and back.
#pragma once
#include "base/dtype.h"
#include "base/thread_pool.h"

namespace tern::cpu {

// x seen as outer x length x inner. One scale for all (single), one per position of `length`, or one for
// every `block` positions and each of inner.
struct QuantShape {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t block = 0;  // 0: not blocked
  bool single = true;
};

bool HasQuant(DType whole);  // i8, u8, i16, u16
// zero: of type `to` as the scales are, or null.
void QuantizeF32(const QuantShape& s, DType to, const float* x, const float* scale, const void* zero, void* y,
                 const Workers& workers);
// From i32 too.
void DequantizeF32(const QuantShape& s, DType from, const void* x, const float* scale, const void* zero,
                   float* y, const Workers& workers);

}  // namespace tern::cpu
