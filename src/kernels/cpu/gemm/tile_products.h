// Counts the effective multiply-adds of products, for estimates of their time.
#pragma once
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Estimates the time of the product c[m, n] = a[m, dwords]·b[dwords, n] in tiles. Returns it as the number of
// multiply-adds of dwords that take the same time at full speed. The count includes partly filled vectors,
// tiles with too few rows to hide latency, and the overhead of each tile. Two bf16 count as one dword, even
// if the processor has no bf16 instructions and computes bf16 more slowly. On such a processor, users choose
// bf16 for its results, not for its speed. `rows` and `granule` are those of the TileTable.
double TileProducts(int rows, int granule, int64_t m, int64_t n, int64_t dwords);
inline double TileProducts(const TileTable& table, int64_t m, int64_t n, int64_t dwords) {
  return TileProducts(table.rows, table.granule, m, n, dwords);
}

}  // namespace tern::cpu
