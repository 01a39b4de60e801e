// The micro-kernel of matrix products and convolutions. It multiplies a few rows of a, which are read in
// place, by a packed panel of b. Operands consist of dwords (32 bits). A dword is one f32, or two bf16 that
// are neighbours along k. Sums are f32 in both cases.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

constexpr int kMaxTileRows = 32;  // maximum rows of a tile in any instruction set

// Describes c[rows, columns] = clip(a·b + c + bias + residual). The terms c (see `accumulate`), bias and
// residual are optional.
struct Tile {
  const float* a = nullptr;
  int64_t a_row = 0;         // row stride in dwords; the dwords of a row are contiguous
  const float* b = nullptr;  // a panel: [segments * k][table.columns]
  int64_t k = 0;             // dwords per segment
  // Data to prefetch into the L2 cache, or null. The loop prefetches `prefetch_step` dwords per dword of k.
  const float* prefetch = nullptr;
  int64_t prefetch_step = 0;
  // A row of a may consist of several segments of k dwords each, as a window over an image does. Segment i
  // starts at a + starts[i].
  int64_t segments = 1;
  const int64_t* starts = nullptr;  // null means one segment at offset 0
  float* c = nullptr;
  int64_t c_row = 0;
  // Whether c and the residual are bf16 in memory. Only tables for bf16 operands support this. With bf16_c,
  // `accumulate` must be false.
  bool bf16_c = false, bf16_residual = false;
  int64_t columns = 0;              // 1 … table.columns
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // laid out like c
  int64_t residual_row = 0;
  bool accumulate = false;  // adds to the old c
  // Whether tiles that have free registers use several accumulators per sum. This changes the order of
  // additions.
  bool few_rows = false;
  // Whether tiles with several accumulators read b as four streams. A core reads four streams from memory
  // faster than one, but not from its caches.
  bool streams = false;
  bool clip = false;  // clips to [low, high]; NaN stays NaN
  float low = 0, high = 0;
};

// run[r] computes a tile of r rows.
struct TileRuns {
  void (*run[kMaxTileRows + 1])(const Tile& tile);
};

struct TileTable {
  int rows, columns;  // size of the largest tile
  int granule;        // a tile computes at least Tile::columns rounded up to a multiple of this
  int row_granule;    // a tile takes as long as one whose rows are rounded up to a multiple of this
  int per_lane;       // elements of k per 32-bit lane: 1 f32 or 2 bf16
  double dot_cost;    // the time of a product of dwords, relative to a multiply-add of f32
  double overhead;    // the time of a tile apart from its products, in dwords of k
  // run[r] computes a tile of r rows, 1 <= r <= rows.
  void (*run[kMaxTileRows + 1])(const Tile& tile);
  // Packs factor * b[k, n] into panels [ceil(n / columns)][dwords(k)][columns], zero-padded. This function is
  // for weights. Tables for bf16 round such that the sum of each column is preserved
  // (docs/reports/accuracy.md).
  void (*pack)(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor, float* to);
  // Same as `pack`, but for operands that are packed in every run. Tables for bf16 round to the nearest
  // number, ties to even.
  void (*pack_nearest)(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor,
                       float* to);
  // Packs `count` contiguous elements into dwords, zero-padded. `to` may equal `from`.
  void (*copy)(const float* from, int64_t count, float* to);

  int64_t dwords(int64_t k) const { return (k + per_lane - 1) / per_lane; }
  // Computes `count` rows, split into tiles of about the same height.
  void RunRows(Tile tile, int64_t count) const;
};
TERN_SIMD_TABLE(TileTable, TileSimd)
// These tables use no bf16 instructions. Operands are rounded, then multiplied as f32.
TERN_SIMD_TABLE(TileTable, TileBf16Simd)
namespace avx512_bf16 {
extern const TileTable kTileBf16Simd;  // x86-64 only
}
namespace avx512_amx {
extern const TileRuns kTileAmx, kTileEmulated;  // for bf16; x86-64 only
}

// The type that operands of a product are rounded to before they are multiplied.
enum class Operands : uint8_t { kF32, kBf16 };
// Returns the table of the active instruction set. For bf16, returns the table with AMX or AVX512-BF16
// instructions if ActiveBf16Products() is true. Both have the same panels.
const TileTable& TileFor(Operands operands);

}  // namespace tern::cpu
