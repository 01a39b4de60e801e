// Many short rows copied: where calling memcpy for each would take longer than the bytes do.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

struct RowsCopyTable {
  // `count` rows of so many bytes; steps in bytes.
  void (*rows)(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t bytes, int64_t count);
};
TERN_SIMD_TABLE(RowsCopyTable, RowsCopySimd)

}  // namespace tern::cpu
