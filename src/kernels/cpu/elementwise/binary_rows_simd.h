// Inner loop of add, sub, mul and div of f32. One call computes a plane, which is several rows.
#pragma once
#include "core/elementwise_kind.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// One operand of a plane.
struct PlaneOperand {
  const float* data = nullptr;
  int64_t row = 0;    // row stride in elements
  bool along = true;  // if true, the column stride is 1; if false, each row repeats one element
};

struct BinaryRowsTable {
  // y is [rows, n], contiguous. kind is add, sub, mul or div.
  void (*run)(BinaryKind kind, const PlaneOperand& a, const PlaneOperand& b, float* y, int64_t rows,
              int64_t n);
};
TERN_SIMD_TABLE(BinaryRowsTable, BinaryRowsSimd)

}  // namespace tern::cpu
