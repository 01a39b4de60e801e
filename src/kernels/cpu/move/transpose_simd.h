// Transposes matrices.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct TransposeTable {
  // to[j * to_row + i] = from[i * from_row + j] for i < rows, j < columns.
  using Transpose = void(const void* from, int64_t from_row, int64_t rows, int64_t columns, void* to,
                         int64_t to_row);
  Transpose *x8, *x16, *x32, *x64;  // named by the bits of an element
};
TERN_SIMD_TABLE(TransposeTable, TransposeSimd)

}  // namespace tern::cpu
