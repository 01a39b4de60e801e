// Effective multiply-adds of products, for estimates of their time.
#pragma once
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Multiply-adds of dwords at full speed that take as long as c[m, n] = a[m, dwords]·b[dwords, n] does in
// tiles. Counts partly filled vectors, tiles with too few rows to hide latency, and the overhead of each
// tile. Two bf16 count as one dword even without bf16 instructions: bf16 is then chosen for its results, not
// its speed.
double TileProducts(const TileTable& table, int64_t m, int64_t n, int64_t dwords);

}  // namespace tern::cpu
