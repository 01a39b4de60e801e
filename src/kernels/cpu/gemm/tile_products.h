// Counts the effective multiply-adds of products, for estimates of their time.
#pragma once
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Estimates the time of the product c[m, n] = a[m, dwords]·b[dwords, n] in tiles. Returns it as the number of
// multiply-adds of dwords that take the same time at full speed. The count includes partly filled vectors,
// tiles with too few rows to hide latency, and the overhead of each tile. The members of TileSize are those
// of TileTable and ByteTileTable.
struct TileSize {
  int rows, granule, row_granule;
  double overhead;
};
double TileProducts(const TileSize& tile, int64_t m, int64_t n, int64_t dwords);
// Returns the number of multiply-adds of f32 that take the same time. Two bf16 count as one dword, even if
// the processor has no bf16 instructions and computes bf16 more slowly. On such a processor, users choose
// bf16 for its results, not for its speed.
inline double TileProducts(const TileTable& table, int64_t m, int64_t n, int64_t dwords) {
  return table.dot_cost *
         TileProducts(TileSize{table.rows, table.granule, table.row_granule, table.overhead}, m, n, dwords);
}

// Costs of tiles in AMX registers, measured on a Xeon with 2 MiB of L2 cache per core.
constexpr double kAmxDotCost = 0.35, kAmxOverhead = 60;

}  // namespace tern::cpu
