// Splits products with packed panels into jobs.
#pragma once
#include <cstdint>

namespace tern::cpu {

// A product c[m, n] = a[m, k]·b[k, n] in tiles. A dword is 32 bits of an operand along k.
struct PanelShape {
  int64_t m, n, k;                       // k is in elements
  int64_t dwords;                        // dwords of k
  int64_t max_depth;                     // maximum dwords of k per pass
  int tile_rows, tile_columns, granule;  // see TileTable
  bool copy;                             // rows of a are copied into contiguous scratch memory first
  int row_granule = 1;                   // see TileTable
  double dot_cost = 1;
};

// Describes how a product is split into jobs. A job multiplies a block of rows of a by several panels of b.
struct PanelBlocking {
  int64_t depth;         // dwords of k per pass
  int64_t rows, panels;  // rows of a and panels of b per job
  int64_t row_jobs, panel_jobs;
  // The order of jobs. Either a block of rows is multiplied by all panels before the next block of rows, or
  // panels are multiplied by all rows before the next panels.
  bool panels_first;

  int64_t jobs() const { return row_jobs * panel_jobs; }
  int64_t RowJob(int64_t job) const { return panels_first ? job % row_jobs : job / panel_jobs; }
  int64_t PanelJob(int64_t job) const { return panels_first ? job / row_jobs : job % panel_jobs; }
};

PanelBlocking BlockingOf(const PanelShape& p, int threads);

constexpr int64_t kFewRows = 4;              // a product with up to this many rows is not split by rows
constexpr int64_t kPanelDwords = 128 << 10;  // dwords of b that stay in the L2 cache
constexpr int64_t kCopyPad = 16;  // dwords between copied rows, so that they do not collide in the L1 cache

}  // namespace tern::cpu
