// The inner loops of depthwise convolutions over channels-last images, vectorized along channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Describes the work of one call: the output pixels, all taps, and blocks [block0, block1) of channels. A
// block is a vector of channels. The last block ends with the last channel and may overlap the block before
// it. If there are fewer channels than lanes, they form one partial block.
struct DepthwisePart {
  // Pointers to input pixels. The functions of `kinds` expect [input rows][x_row], and those of `any` expect
  // [output pixels][taps].
  const float* const* x = nullptr;
  int64_t x_row = 0;
  int64_t taps = 0;
  const float* w = nullptr;  // [blocks][taps][lanes]
  int64_t block0 = 0, block1 = 0, channels = 0;
  float* y = nullptr;
  int64_t y_row = 0, y_pixel = 0;   // strides in elements
  const float* bias = nullptr;      // one per channel
  const float* residual = nullptr;  // laid out like y
  bool clip = false;                // clips to [low, high]; NaN stays NaN
  float low = 0, high = 0;
};

constexpr int kDepthwiseKinds = 5, kMaxDepthwiseRows = 2, kMaxDepthwisePixels = 7, kMaxAnyPixels = 4;

struct DepthwiseNhwcTable {
  int lanes;
  // A specialization for a square kernel without dilation, with the same stride on both axes.
  struct Kind {
    int kernel, stride, rows, pixels;  // rows and pixels are the maximum output rows and pixels of a call
    // run[r][p] computes r rows of p pixels.
    void (*run[kMaxDepthwiseRows + 1][kMaxDepthwisePixels + 1])(const DepthwisePart& part);
    // part[p] computes one row of p pixels if there are fewer channels than lanes.
    void (*part[kMaxDepthwisePixels + 1])(const DepthwisePart& part);
  };
  Kind kinds[kDepthwiseKinds];
  // any[p] computes p pixels, for any kernel, stride and dilation.
  void (*any[kMaxAnyPixels + 1])(const DepthwisePart& part);
};
TERN_SIMD_TABLE(DepthwiseNhwcTable, DepthwiseNhwcSimd)

}  // namespace tern::cpu
