// Convolutions of large kernels over [N, spatial…, C] in f32 by FFT, with the overlap-save method. Tiles of
// the image overlap by the kernel's extent. Each tile is transformed, multiplied frequency by frequency with
// transformed weights, and transformed back. There may be up to two spatial axes, any dilation and any
// padding. The stride must be 1.
//
// Rounding errors of a result grow with the largest numbers in its tile, even if these are outside its
// window. If all numbers of a tile have a similar magnitude, errors are smaller than those of direct sums. If
// a tile contains a few much larger numbers, errors are larger (docs/reports/accuracy.md). The result is
// bit-identical for any number of threads. A NaN or infinity in the image makes all results of the tiles that
// contain it NaN, in all output channels of its group. All other results stay correct.
#pragma once
#include <vector>

#include "kernels/cpu/conv/fft_simd.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

// Sizes of the tiles that images are split into. The sizes depend only on the kernel and on `log`, so that
// weights can be packed before the image size is known. If the kernel's extent along an axis is more than 1,
// the side of a tile along this axis is 1 << log. If the extent is 1, the side is 1.
class FftSize {
 public:
  static constexpr int kMaxLog = 6;       // maximum of `log` for two axes
  static constexpr int kMaxLineLog = 10;  // maximum of `log` for one axis

  FftSize() = default;
  FftSize(const ConvShape& s, int log);
  // Returns whether tiles of this size support the shape. The stride must be 1. Along each axis, a tile must
  // have results for at least a quarter of its side.
  static bool Fits(const ConvShape& s, int log);

  int64_t rows() const { return int64_t{1} << rows_log_; }
  int64_t columns() const { return int64_t{1} << columns_log_; }
  // Number of frequencies to compute. The spectrum of a real input is conjugate-symmetric, so one of two
  // conjugate frequencies is enough.
  int64_t frequencies() const {
    // The number of frequencies that are their own conjugates.
    const int64_t self_conjugate = (rows_log_ > 0 ? 2 : 1) * (columns_log_ > 0 ? 2 : 1);
    return (rows() * columns() + self_conjugate) / 2;
  }
  // Number of results of a tile along each axis.
  int64_t out_rows() const { return rows() - extent_[0] + 1; }
  int64_t out_columns() const { return columns() - extent_[1] + 1; }
  // Returns the factor that normalizes a forward transform followed by an inverse one. It contains 0.25,
  // because a product has two factors and Split (fft_simd.cc) makes each of them twice too large.
  float scale() const { return 0.25f / static_cast<float>(rows() * columns()); }

 protected:
  int rows_log_ = 0, columns_log_ = 0;

 private:
  int64_t extent_[2] = {1, 1};
};

// Twiddle factors and index tables for the transforms of tiles of one FftSize.
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

// FFT convolution with any number of groups. Scratch returns bytes.
class FftConv {
 public:
  static int64_t PackedSize(const ConvShape& s, int log);  // in floats
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers, int log);
  // Estimates the time in microseconds, on a core with 100 GFLOP/s.
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
  int64_t at_once_ = 1;              // tiles per pass
  int64_t v_step_ = 0, v_tile_ = 0;  // strides of spectra between frequencies, between tiles
  int64_t p_step_ = 0, p_tile_ = 0;  // strides of products between frequencies, between tiles
};

// Depthwise FFT convolution.
class FftDepthwise {
 public:
  static bool Fits(const ConvShape& s) { return s.group == s.channels && s.maps == s.channels; }
  static int64_t PackedSize(const ConvShape& s, int log);  // in floats
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
