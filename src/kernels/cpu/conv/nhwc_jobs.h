// Splits channels-last convolutions into jobs.
#pragma once
#include "kernels/cpu/conv/conv.h"

namespace tern::cpu {

// The sizes of a convolution that decide how it is split. Windows are either read in rows of the image (or of
// a padded copy), or copied one by one (im2col).
struct NhwcJobShape {
  const ConvShape& shape;
  bool im2col;
  int64_t columns;                       // maximum output pixels of a row per job; 1 with im2col
  int64_t k;                             // dwords of a window
  int64_t read, written;                 // dwords per output row of a job; with im2col, per output pixel
  int64_t scratch, scratch_row;          // a job of n rows needs scratch + n * scratch_row dwords
  int tile_rows, tile_columns, granule;  // see TileTable
  int row_granule = 1;
  double dot_cost = 1;

  int64_t Scratch(int64_t rows) const { return scratch + rows * scratch_row; }
  int64_t Panels() const;  // panels of all groups
  // Returns the number of parts of an output row, each of which has its own jobs.
  int64_t Parts() const;
};

// A part of the output. With im2col, a job computes pixels [first, last), counted over all images. Otherwise
// it computes output rows [first, last) and columns [left, right) of one plane of an image. In both cases it
// computes the output channels of panels [panel0, panel1). Panels are numbered consecutively, from the first
// group to the last.
struct NhwcJob {
  int64_t image, plane, first, last;
  int64_t left, right;
  int64_t panel0, panel1;
};

struct NhwcBlocking {
  int64_t rows;    // output rows per job; with im2col, output pixels per job
  int64_t blocks;  // blocks per plane; with im2col, blocks of all images
  int64_t panels, panel_jobs;
  int64_t planes;  // planes of all images; with im2col, 1
  int64_t jobs() const { return planes * blocks * panel_jobs; }
};

// Maximum dwords that a job reads or writes, so that they stay in the L2 cache.
constexpr int64_t kNhwcBlockDwords = 64 << 10;

// The split does not change the order of additions.
NhwcBlocking BlockingOf(const NhwcJobShape& s, int threads);
NhwcJob JobOf(const NhwcJobShape& s, const NhwcBlocking& blocking, int64_t job);

// Returns whether the windows read padding.
bool NeedsPadding(const ConvShape& s);
// If the output is not empty and there are input channels, returns `shape`. Otherwise returns an equivalent
// shape with a 1x1x1 kernel, which needs little memory for packed weights and scratch.
ConvShape NonEmptyShape(const ConvShape& shape);
// Returns whether tiles of an output row of this many pixels have too few rows to hide the latency of
// multiply-adds, or to fill tiles of `row_granule` rows. Each pixel is one row of a tile.
bool LowTiles(int64_t pixels, int tile_rows, int row_granule);
// Returns the number of groups that are computed as one group, so that their output channels fill `lanes`.
int64_t JoinedGroups(const ConvShape& s, int64_t lanes);

}  // namespace tern::cpu
