// Matrix products of one block, compiled per instruction set; gemm.cc splits the work into blocks.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Storage types. kI32 also stands for u32, and kI64 for u64. Smaller integers have separate values, because
// their conversion to 32 bits depends on the sign.
enum class Stored : uint8_t { kF32, kF16, kBF16, kF64, kI8, kU8, kI16, kU16, kI32, kI64 };

struct GemmMatrix {
  const void* data;
  Stored type;
  int64_t row, column;  // strides in elements
};

// Rows [m0, m1) and columns [n0, n1) of one product, over all of k. Fields have the same meaning as in
// GemmParams. The compute type T is float, double, uint32_t or uint64_t.
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
  // The epilogue, or null. It is called while finished sums are in the cache. The sums are `rows` x `columns`
  // elements of T with row stride `step`. Row i of the sums becomes the elements of the result that start at
  // index + i * c_row. Element 0 of the result is at the address c - c_at.
  void (*finish)(const GemmBlock& block, int64_t index, int64_t rows, int64_t columns, void* sums,
                 int64_t step);
  const void* finish_context;
  int64_t c_at;
  void* scratch;
};

struct GemmTable {
  int mr, nr;          // size of the register tile
  int64_t mc, kc, nc;  // sizes of the cache blocks
  void (*run)(const GemmBlock& block);
  // Returns the bytes of scratch memory that `run` needs for a block [m, n]. `half_result` means that c is
  // f16 or bf16.
  int64_t (*scratch)(int64_t m, int64_t n, int64_t k, bool half_result);
};

struct GemmTables {
  GemmTable f32, f64, u32, u64;
};
TERN_SIMD_TABLE(GemmTables, GemmSimd)

// Size of the largest block of c if c is f16 or bf16. The sums of such a block are accumulated in f32 scratch
// memory first.
constexpr int64_t kHalfResultRows = 192, kHalfResultColumns = 512;

}  // namespace tern::cpu
