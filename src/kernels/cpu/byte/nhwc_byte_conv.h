// Convolutions of 8-bit images [N, spatial…, C] with 8-bit weights and sums in i32.
#pragma once
#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

struct NhwcByteArgs {
  const void* x = nullptr;
  int32_t x_zero = 0;         // padding has this value
  const int8_t* w = nullptr;  // weights that Pack has written
  void* y = nullptr;          // [N, spatial…, M] of 8 bits, f32 or i32, see ByteEpilogue::output
  // Columns are output channels. residual_row is the stride between pixels of the residual; 0 means M.
  ByteEpilogue epilogue;
  int64_t pixel_stride = 0;  // stride between pixels of y, in elements; 0 means M
};

// Supports any kernel, stride, dilation and number of groups.
class NhwcByteConv {
 public:
  // Packs weights [M, C / group, kernel…]; zero_per_column means per output channel. FitsI8(w, 1, k, k, M)
  // must be true for k = C / group * taps, and k must be at most kMaxByteDepth. WeightSums(to) are the sums
  // of the M output channels. The packed weights depend only on channels, maps, group, kernel, stride and
  // dilation of the shape.
  static int64_t PackedSize(const ConvShape& s);  // in bytes
  static void Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers);

  NhwcByteConv() = default;
  explicit NhwcByteConv(const ConvShape& shape, DType x = DType::kU8);  // x is u8 or i8
  size_t Scratch(int threads) const;                                    // in bytes
  void Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const;
  NhwcCounts Counts() const;  // in dwords: 4 elements of x, 4 products
};

// Depthwise convolutions: every group has one channel and one output channel.
class NhwcByteDepthwise {
 public:
  static bool Fits(const ConvShape& s) { return s.group == s.channels && s.maps == s.channels; }
  // As in NhwcByteConv.
  static int64_t PackedSize(const ConvShape& s);
  static void Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers);

  NhwcByteDepthwise() = default;
  explicit NhwcByteDepthwise(const ConvShape& shape, DType x = DType::kU8);
  size_t Scratch(int threads) const;
  void Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const;
};

}  // namespace tern::cpu
