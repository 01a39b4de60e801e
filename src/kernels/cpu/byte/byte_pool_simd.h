// Inner loops of pooling over 8-bit images, channels last.
#pragma once
#include "kernels/cpu/simd/simd.h"

namespace tern::cpu {

// The taps of a window that are inside the image: counts and strides in bytes along three axes.
struct ByteWindow {
  const uint8_t* first = nullptr;
  int64_t count[3] = {1, 1, 1}, step[3] = {0, 0, 0};
};

// `flip` is 0 for u8 and 128 for i8, see FlipOf.
struct BytePoolTable {
  // y[c] = the largest of all taps. There must be at least one tap.
  void (*max)(const ByteWindow& window, int64_t channels, uint8_t flip, uint8_t* y);
  // sums[c] = the sum of x[i * stride + c] for i < pixels, as u8. If flip is 128, x is i8, and 128 is added
  // to each element. There must be at most 2^23 pixels.
  void (*sum)(const uint8_t* x, int64_t stride, int64_t pixels, int64_t channels, uint8_t flip,
              int32_t* sums);
};
TERN_SIMD_TABLE(BytePoolTable, BytePoolSimd)

}  // namespace tern::cpu
