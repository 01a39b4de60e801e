// The inner loops of depthwise convolutions over channels-last images: vectors along channels.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// Some output pixels, all taps, some blocks of channels. A block is as many channels as a vector has; the
// last one begins so that it ends with the channels. (Fewer channels than that: one block, partly filled.)
struct DepthwisePart {
  const float* const* x = nullptr;  // pixels: [input rows][x_row] for windows, [output pixels][taps] for any
  int64_t x_row = 0;
  int64_t taps = 0;
  const float* w = nullptr;  // [blocks][taps][lanes]
  int64_t block0 = 0, block1 = 0, channels = 0;
  float* y = nullptr;
  int64_t y_row = 0, y_pixel = 0;   // elements
  const float* bias = nullptr;      // one per channel
  const float* residual = nullptr;  // laid out like y
  bool clip = false;                // to [low, high]; NaN stays
  float low = 0, high = 0;
};

constexpr int kDepthwiseKinds = 5, kMostDepthwiseRows = 2, kMostDepthwisePixels = 7, kMostAnyPixels = 4;

struct DepthwiseNhwcTable {
  int lanes;
  // Square windows that lie side by side on both axes, by kind: which kernel and stride, and how many output
  // rows and pixels at once there are functions for.
  struct Kind {
    int kernel, stride, rows, pixels;
    void (*run[kMostDepthwiseRows + 1][kMostDepthwisePixels + 1])(const DepthwisePart& part);
    void (*part[kMostDepthwisePixels + 1])(const DepthwisePart& part);  // one row, less than a vector
  };
  Kind kinds[kDepthwiseKinds];
  void (*any[kMostAnyPixels + 1])(const DepthwisePart& part);  // by the number of pixels
};
TERN_SIMD_TABLE(DepthwiseNhwcTable, DepthwiseNhwcSimd)

}  // namespace tern::cpu
