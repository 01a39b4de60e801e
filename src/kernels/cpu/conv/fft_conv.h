// Convolutions of large kernels over [N, spatial…, C] in f32 by Fourier transforms: tiles of the image
// overlap by the kernel's extent, are transformed, multiplied frequency by frequency with transformed
// weights, and transformed back. Two spatial axes at most, strides 1, any dilation and padding.
//
// Errors are relative to the largest numbers of a tile, in each channel of the group by itself, not to those
// of a window: with numbers of one size they are smaller than those of direct sums, near much larger ones
// they are not (docs/reports/accuracy.md). The result is the same for any number of threads. What is not
// finite in the image makes the tiles that see it NaN (a tile's side wide), in all maps of its group and
// nowhere else.
#pragma once
#include <vector>

#include "kernels/cpu/conv/fft_simd.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

// Sizes of the tiles that images are cut into. They depend on the kernel's sizes alone, so that weights are
// packed without an image: `log` is the tile's side along the axes along which the kernel has an extent.
class FftSize {
 public:
  static constexpr int kMostLog = 6, kMostLineLog = 10;  // two axes, one

  FftSize() = default;
  FftSize(const ConvShape& s, int log);
  // The kernel leaves at least a quarter of a tile's side.
  static bool Fits(const ConvShape& s, int log);

  int64_t rows() const { return int64_t{1} << rows_log_; }
  int64_t columns() const { return int64_t{1} << columns_log_; }
  // Mirror images are counted once.
  int64_t frequencies() const {
    const int64_t alone = (rows_log_ > 0 ? 2 : 1) * (columns_log_ > 0 ? 2 : 1);  // their own mirror images
    return (rows() * columns() + alone) / 2;
  }
  // Results of a tile.
  int64_t out_rows() const { return rows() - extent_[0] + 1; }
  int64_t out_columns() const { return columns() - extent_[1] + 1; }
  // Numbers are scaled by this on their way there and back.
  float scale() const { return 0.25f / static_cast<float>(rows() * columns()); }

 protected:
  int rows_log_ = 0, columns_log_ = 0;

 private:
  int64_t extent_[2] = {1, 1};
};

// What transforms such tiles.
class FftPlan : public FftSize {
 public:
  FftPlan() = default;
  FftPlan(const ConvShape& s, int log);
  int64_t tile_floats() const { return rows() * row_step_; }
  FftTile Tile(float* z) const;

 private:
  int64_t row_step_ = 0;
  std::vector<float> factors_;
  std::vector<int32_t> pairs_;
};

// The tiles of a batch of images.
struct FftTiles {
  int64_t rows = 0, columns = 0, count = 0;
  FftTiles() = default;
  FftTiles(const ConvShape& s, const FftSize& size);
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
