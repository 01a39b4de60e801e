// The inner loops of convolutions with small groups over channels-last images. A vector of channels contains
// one or more whole groups.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// One row of output pixels and one vector of channels. The kernel has three columns without dilation.
struct GroupedTile {
  const float* x = nullptr;  // first input pixel: [kernel rows][pixels][lanes], padding included
  int64_t x_row = 0;         // stride of kernel rows, in floats
  int64_t rows = 0;          // kernel rows
  const float* w = nullptr;  // [kernel rows][channels of a group][3 columns][lanes]
  float* y = nullptr;
  int64_t y_pixel = 0;              // stride, in floats
  int64_t channels = 0;             // channels of the vector, 1 … lanes
  const float* bias = nullptr;      // one per channel of the vector
  const float* residual = nullptr;  // laid out like y
  bool clip = false;                // clips to [low, high]; NaN stays NaN
  float low = 0, high = 0;
};

constexpr int kGroupSizes = 2, kGroupedTiles = 4;

struct GroupedNhwcTable {
  int lanes;
  // pixels[s] lists the output pixels that run[g][s] computes, for stride s + 1. The last number is 1.
  int pixels[2][kGroupedTiles];
  int sizes[kGroupSizes];  // channels per group; 0 if a group is larger than a vector
  void (*run[kGroupSizes][2][kGroupedTiles])(const GroupedTile& tile);
  // Copies `channels` floats of each of n pixels to vectors, with zeros in the other lanes.
  void (*copy)(const float* x, int64_t x_pixel, int64_t n, int64_t channels, float* to);
};
TERN_SIMD_TABLE(GroupedNhwcTable, GroupedNhwcSimd)

}  // namespace tern::cpu
