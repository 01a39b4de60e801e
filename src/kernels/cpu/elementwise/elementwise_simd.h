// Inner loops of elementwise functions. Operands have stride 1. To broadcast a scalar, a caller fills a
// tile with copies of it.
#pragma once
#include "base/dtype.h"
#include "kernels/cpu/elementwise/kinds.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct UnaryTable {
  void (*f32)(UnaryKind kind, const float* x, float* y, int64_t n, float alpha, float beta);
  void (*widen_half)(const uint16_t* x, float* y, int64_t n);
  void (*widen_bfloat)(const uint16_t* x, float* y, int64_t n);
  void (*round_to_half)(const float* x, uint16_t* y, int64_t n);
  void (*round_to_bfloat)(const float* x, uint16_t* y, int64_t n);
};
TERN_SIMD_TABLE(UnaryTable, UnarySimd)

struct BinaryTable {
  // `type` is f32, f64, bool or an integer of 8 to 64 bits. Comparisons write bools to y.
  void (*run)(BinaryKind kind, DType type, const void* a, const void* b, void* y, int64_t n);
};
TERN_SIMD_TABLE(BinaryTable, BinarySimd)

// Additions alone, for epilogues. A mini build without kernels for Binary needs only this table.
struct AddTable {
  // `type` is f32, f64, u32 or u64.
  void (*run)(DType type, const void* a, const void* b, void* y, int64_t n);
};
TERN_SIMD_TABLE(AddTable, AddSimd)

// Elements of a tile, which is a buffer on the stack. Loops convert one tile at a time.
constexpr int64_t kTile = 1024;

}  // namespace tern::cpu
