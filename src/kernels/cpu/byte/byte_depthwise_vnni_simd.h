// The inner loops of 8-bit depthwise convolutions over channels-last images, vectorized along channels.
#pragma once
#include "kernels/cpu/byte/byte_epilogue.h"
#include "kernels/cpu/simd/vnni.h"

namespace tern::cpu {

// Describes one call: some rows of output pixels, and several blocks of 16, 32 or 64 channels.
struct ByteDepthwisePart {
  // Pointers to input pixels. The functions of `kinds` expect [input rows][x_row]. `any` expects [output
  // pixels][4 * groups]: one pointer per tap, padded to a multiple of four. The padding may point to any
  // pixel, because its weights are 0.
  const uint8_t* const* x = nullptr;
  int64_t x_row = 0;
  int64_t groups = 0;  // groups of four taps, for `any`
  int64_t pixels = 0;  // output pixels of a row
  int64_t blocks = 1;
  int64_t block_bytes = 0;    // bytes of weights per block
  const int8_t* w = nullptr;  // weights of the first block, see ByteDepthwiseTable
  int64_t channel = 0;        // the first channel of the first block
  // One per channel of all blocks, in the order of lanes, see lanes-inl.h.
  const int32_t* bias = nullptr;
  const float* scale = nullptr;
  const ByteEpilogue* epilogue = nullptr;
  // Whether the epilogue only rounds to 8 bits, which is done in registers. Sums times scales must be less
  // than 2^31.
  bool rounds = false;
  ByteSaturation to;
  void* y = nullptr;               // pixel 0, channel 0
  int64_t y_row = 0, y_pixel = 0;  // strides in elements
  const void* residual = nullptr;
  int64_t residual_image_row = 0;  // stride between rows of the residual, in elements
};

constexpr int kByteDepthwiseKinds = 3, kByteWidths = 3, kMaxByteDepthwiseRows = 2;

using ByteDepthwiseFunction = void (*)(const ByteDepthwisePart& part);

// Index i of the arrays is for blocks of 16 << i channels. Functions of blocks wider than `width` are null.
struct ByteDepthwiseTable {
  int width;
  // A specialization for a square kernel without dilation, with the same stride on both axes. Weights of a
  // block are dwords [output row][kernel column][quad][channels, in the order of lanes]. A quad is four
  // consecutive input rows; a dword has one weight for each of them (0 for input rows that the output row
  // does not read). `quads` quads cover all input rows that `rows` output rows read.
  struct Kind {
    int kernel, stride, rows, quads;                                    // rows is the maximum of a call
    ByteDepthwiseFunction run[kByteWidths][kMaxByteDepthwiseRows + 1];  // run[i][r] computes r rows
  };
  Kind kinds[kByteDepthwiseKinds];
  // Computes one row of any windows. Weights of a block are dwords [groups][channels, in the order of lanes].
  // A dword has the weights of four taps.
  ByteDepthwiseFunction any[kByteWidths];
};
TERN_VNNI_TABLE(ByteDepthwiseTable, ByteDepthwiseSimd)

}  // namespace tern::cpu
