// Products counted by the time they take, for estimates.
#pragma once
#include "kernels/cpu/gemm/tile.h"

namespace tern::cpu {

// Multiply-adds of words that take as long as c[m, n] = a[m, words]·b[words, n] does in tiles: vectors are
// not always full, low tiles do not keep the multipliers busy, and each tile takes some time to start. Two
// elements of bf16 are a word also where no instruction multiplies pairs: who asks for bf16 wants its
// results, whatever they take.
double TileProducts(const TileTable& table, int64_t m, int64_t n, int64_t words);

}  // namespace tern::cpu
