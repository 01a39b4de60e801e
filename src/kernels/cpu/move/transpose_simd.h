// Matrices transposed over.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct TransposeTable {
  // to[j * to_row + i] = from[i * from_row + j] for i < rows, j < columns.
  using Turn = void(const void* from, int64_t from_row, int64_t rows, int64_t columns, void* to,
                    int64_t to_row);
  Turn *bytes, *halves, *words, *longs;  // elements of 1, 2, 4, 8 bytes
};
TERN_SIMD_TABLE(TransposeTable, TransposeSimd)

}  // namespace tern::cpu
