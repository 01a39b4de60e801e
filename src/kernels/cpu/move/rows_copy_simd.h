// Copies many short rows, for which a call of memcpy per row is too slow.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct RowsCopyTable {
  // Copies `count` rows of `bytes` bytes; steps are row strides in bytes.
  void (*rows)(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t bytes, int64_t count);
};
TERN_SIMD_TABLE(RowsCopyTable, RowsCopySimd)

}  // namespace tern::cpu
