// The one inner loop of matrix products and convolutions: a few rows of a, read where they lie, times a
// packed panel of b. Operands are words of 32 bits: floats, or two neighbours along k as bf16. Sums and
// results are f32 either way.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

constexpr int kMostTileRows = 14;  // of any instruction set

// c[rows, columns] = clip(a·b + c? + bias? + residual?).
struct Tile {
  const float* a = nullptr;
  int64_t a_row = 0;         // words from row to row; a row's words are neighbours
  const float* b = nullptr;  // a panel: [parts * k][table.columns]
  int64_t k = 0;             // words
  // What will be read soon, and may be brought nearer: from there on, so many words with each one of k.
  const float* ahead = nullptr;
  int64_t ahead_step = 0;
  // Rows of a in several pieces of k words, each at its start counted from a: windows over an image.
  int64_t parts = 1;
  const int64_t* starts = nullptr;  // null: one piece at 0
  float* c = nullptr;
  int64_t c_row = 0;
  // What lies there is bf16: tables for operands of bf16 only, and no sums that are added to.
  bool narrow_c = false, narrow_residual = false;
  int64_t columns = 0;              // 1 … table.columns
  const float* bias = nullptr;      // one per column
  const float* residual = nullptr;  // laid out like c
  int64_t residual_row = 0;
  bool accumulate = false;  // adds to what c holds
  bool few = false;         // another order of sums, faster for tiles of so few rows that they allow it
  bool clip = false;        // to [low, high]; NaN stays
  float low = 0, high = 0;
};

struct TileTable {
  int rows, columns;  // of the largest tile
  int granule;        // columns that are computed together, whether all of them are wanted or not
  int per_lane;       // elements along k
  // By the number of rows, 1 … rows.
  void (*run[kMostTileRows + 1])(const Tile& tile);
  // Panels [ceil(n / columns)][words(k)][columns] of factor * b[k, n], zeros behind the last column and row.
  // For weights: rounded so that sums along k stay (docs/reports/accuracy.md).
  void (*pack)(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor, float* to);
  // For what is packed in every run: rounded to nearest even.
  void (*pack_quickly)(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor,
                       float* to);
  // Neighbours along k as words, zero behind the last. `to` may be `from`.
  void (*copy)(const float* from, int64_t count, float* to);

  int64_t words(int64_t k) const { return (k + per_lane - 1) / per_lane; }
  // The same for any number of rows, as tiles of about the same height.
  void RunRows(Tile tile, int64_t count) const;
};
TERN_SIMD_TABLE(TileTable, TileSimd)
TERN_SIMD_TABLE(TileTable, TileBf16Simd)  // without an instruction for it: rounded, then computed as f32
namespace avx512_bf16 {
extern const TileTable kTileBf16Simd;  // x86-64 only
}

// What the operands of a product are rounded to before they are multiplied.
enum class Operands : uint8_t { kF32, kBf16 };
// The active table; for bf16 with the processor's pair products where it has them.
const TileTable& TileFor(Operands operands);

}  // namespace tern::cpu
