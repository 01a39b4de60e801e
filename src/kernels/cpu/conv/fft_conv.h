// Convolutions of large kernels over [N, spatial…, C] in f32 by Fourier transforms: tiles of the image
// overlap by the kernel's extent, are transformed, multiplied frequency by frequency with transformed
// weights, and transformed back. Two spatial axes at most, strides 1, any dilation and padding.
//
// Rounds less than direct sums of so many products (docs/accuracy.md). The result is the same for any number
// of threads. What is not finite in the image makes the tiles that see it NaN (a tile's side wide), in all
// maps of its group and in the channel that it is paired with.
#pragma once
#include <vector>

#include "kernels/cpu/conv/fft_simd.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

// How images are cut into tiles, and what transforms them. Made from the kernel's sizes alone, so that
// weights are packed without an image: `log` is the tile's side along the axes along which the kernel has an
// extent.
class FftPlan {
 public:
  static constexpr int kMostLog = 6, kMostLineLog = 10;  // two axes, one

  FftPlan() = default;
  FftPlan(const ConvShape& s, int log);
  // The kernel leaves at least a quarter of a tile's side.
  static bool Fits(const ConvShape& s, int log);

  int64_t rows() const { return int64_t{1} << rows_log_; }
  int64_t columns() const { return int64_t{1} << columns_log_; }
  int64_t frequencies() const { return static_cast<int64_t>(pairs_.size()) / 2; }
  int64_t tile_floats() const { return rows() * row_step_; }
  // Results of a tile.
  int64_t out_rows() const { return rows() - extent_[0] + 1; }
  int64_t out_columns() const { return columns() - extent_[1] + 1; }
  // Numbers are scaled by this on their way there and back.
  float scale() const { return 0.25f / static_cast<float>(rows() * columns()); }
  FftTile Tile(float* z) const;

 private:
  int rows_log_ = 0, columns_log_ = 0;
  int64_t row_step_ = 0;
  int64_t extent_[2] = {1, 1};
  std::vector<float> factors_;
  std::vector<int32_t> pairs_;
};

// The tiles of a batch of images.
struct FftTiles {
  int64_t rows = 0, columns = 0, count = 0;
  FftTiles() = default;
  FftTiles(const ConvShape& s, const FftPlan& plan);
};

// Any number of groups.
class FftConv {
 public:
  static int64_t PackedSize(const ConvShape& s, int log);  // floats
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, int log);
  // Estimated microseconds on one core that does 100 GFLOP/s.
  static double Cost(const ConvShape& s, int log);

  FftConv() = default;
  FftConv(const ConvShape& shape, int log);
  size_t Scratch(int threads) const;
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  void Input(const NhwcArgs& args, int64_t tile, int64_t channel, float* v, float* z) const;
  void Products(const NhwcArgs& args, int64_t frequency, int64_t tiles, const float* v, float* p) const;
  void Output(const NhwcArgs& args, int64_t tile, int64_t map, float* p, float* z) const;

  ConvShape shape_;
  FftPlan plan_;
  FftTiles tiles_;
  int64_t at_once_ = 1;              // tiles
  int64_t v_step_ = 0, v_tile_ = 0;  // from frequency to frequency, from tile to tile
  int64_t p_step_ = 0, p_tile_ = 0;
};

// Each channel by itself.
class FftDepthwise {
 public:
  static bool Fits(const ConvShape& s) { return s.group == s.channels && s.maps == s.channels; }
  static int64_t PackedSize(const ConvShape& s, int log);  // floats
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, int log);
  static double Cost(const ConvShape& s, int log);

  FftDepthwise() = default;
  FftDepthwise(const ConvShape& shape, int log);
  size_t Scratch(int threads) const;
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  ConvShape shape_;
  FftPlan plan_;
  FftTiles tiles_;
};

}  // namespace tern::cpu
