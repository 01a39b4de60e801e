// What the instruction sets offer for matrix products; gemm.cc divides the work.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

enum class Stored : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF64,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kI64
};  // signs matter below 32 bits

struct GemmMatrix {
  const void* data;
  Stored type;
  int64_t row, column;
};

// One block of one product, whole k. Computed in T: float, double, uint32_t, uint64_t.
struct GemmBlock {
  int64_t m0, m1, n0, n1, k;
  GemmMatrix a, b;
  void (*b_rows)(const void* context, int64_t batch, int64_t k, int64_t n0, int64_t count, void* to);
  const void* b_context;
  int64_t batch;
  void* c;
  Stored c_type;
  int64_t c_row;
  const void *row_bias, *column_bias;
  float alpha;
  bool accumulate;
  // What is done to finished sums, in T, while they are in cache: rows of them, `step` apart, which become
  // rows of c from its element `index` (c_at included) on. Null: nothing.
  void (*finish)(const GemmBlock& block, int64_t index, int64_t rows, int64_t columns, void* sums,
                 int64_t step);
  const void* finish_context;
  int64_t c_at;
  void* scratch;
};

struct GemmTable {
  int mr, nr;          // of the register tile
  int64_t mc, kc, nc;  // of the blocks that stay in cache
  void (*run)(const GemmBlock& block);
  // Bytes of scratch that run needs for a block of m x n with k.
  int64_t (*scratch)(int64_t m, int64_t n, int64_t k, bool narrow_result);
};

struct GemmTables {
  GemmTable f32, f64, u32, u64;
};
TERN_SIMD_TABLE(GemmTables, GemmSimd)

// Blocks of narrow results are summed up in scratch memory first and must not be larger than this.
constexpr int64_t kNarrowRows = 192, kNarrowColumns = 512;

}  // namespace tern::cpu
