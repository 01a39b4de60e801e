// Sums, differences, products and quotients of f32 rows, many rows a call.
#pragma once
#include "core/elementwise_kind.h"
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// One operand of a plane: elements from row to row, and 0 or 1 from column to column.
struct PlaneOperand {
  const float* data = nullptr;
  int64_t row = 0;
  bool along = true;
};

struct BinaryRowsTable {
  // y[rows, n], one row behind the other. kind is add, sub, mul or div.
  void (*run)(BinaryKind kind, const PlaneOperand& a, const PlaneOperand& b, float* y, int64_t rows,
              int64_t n);
};
TERN_SIMD_TABLE(BinaryRowsTable, BinaryRowsSimd)

}  // namespace tern::cpu
