// Conversions of f16 and bf16. Kernels compute these types in f32, one tile at a time.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "kernels/cpu/elementwise/elementwise_simd.h"

namespace tern::cpu {

inline bool IsHalfPrecision(DType t) { return t == DType::kF16 || t == DType::kBF16; }

inline void Widen(DType type, const uint16_t* x, float* y, int64_t n) {
  type == DType::kF16 ? UnarySimd().widen_half(x, y, n) : UnarySimd().widen_bfloat(x, y, n);
}

inline void RoundToHalf(DType type, const float* x, uint16_t* y, int64_t n) {
  type == DType::kF16 ? UnarySimd().round_to_half(x, y, n) : UnarySimd().round_to_bfloat(x, y, n);
}

}  // namespace tern::cpu
