// The one inner loop of matrix products and convolutions in f32: a few rows of a, read where they lie, times
// a packed panel of b.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

constexpr int kMostTileRows = 14;  // of any instruction set

// c[rows, columns] = clip(a·b + c? + bias? + residual?).
struct Tile {
  const float* a = nullptr;
  int64_t a_row = 0;         // elements from row to row; a row's elements are neighbours
  const float* b = nullptr;  // a panel: [parts * k][table.columns]
  int64_t k = 0;
  // Rows of a in several pieces of k elements, each at its start counted from a: windows over an image.
  int64_t parts = 1;
  const int64_t* starts = nullptr;  // null: one piece at 0
  float* c = nullptr;
  int64_t c_row = 0;
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
  // By the number of rows, 1 … rows.
  void (*run[kMostTileRows + 1])(const Tile& tile);
  // Panels [ceil(n / columns)][k][columns] of factor * b[k, n], zeros behind the last column.
  void (*pack)(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor, float* to);
};
TERN_SIMD_TABLE(TileTable, TileSimd)

}  // namespace tern::cpu
