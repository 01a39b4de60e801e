// 16-bit floats are computed on in f32, a tile at a time.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "kernels/cpu/elementwise/elementwise_simd.h"

namespace tern::cpu {

inline bool IsNarrowFloat(DType t) { return t == DType::kF16 || t == DType::kBF16; }

inline void Widen(DType type, const uint16_t* x, float* y, int64_t n) {
  type == DType::kF16 ? UnarySimd().widen_half(x, y, n) : UnarySimd().widen_bfloat(x, y, n);
}

inline void Narrow(DType type, const float* x, uint16_t* y, int64_t n) {
  type == DType::kF16 ? UnarySimd().narrow_half(x, y, n) : UnarySimd().narrow_bfloat(x, y, n);
}

}  // namespace tern::cpu
