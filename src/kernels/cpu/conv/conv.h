// Convolutions over [N, C, spatial…] with up to three spatial axes.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "kernels/cpu/gemm/gemm.h"

namespace tern::cpu {

// Fewer spatial axes: size 1 in front.
using Spatial = std::array<int64_t, 3>;

struct ConvShape {
  int64_t batch = 1, channels = 1, maps = 1, group = 1;
  Spatial input{1, 1, 1}, kernel{1, 1, 1}, output{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      begin{0, 0, 0};  // begin: padding

  int64_t group_channels() const { return channels / group; }
  int64_t group_maps() const { return maps / group; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // The most taps of a window that lie inside the image, along an axis.
  int64_t inside(size_t axis) const { return kernel[axis] < input[axis] ? kernel[axis] : input[axis]; }
  int64_t taps_inside() const { return inside(0) * inside(1) * inside(2); }
  // Elements that so many windows reach over, along an axis.
  int64_t span(size_t axis, int64_t windows) const {
    return (windows - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  }
  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
};

// Along one axis, for a shift of the input against the output times stride, the output positions in [first,
// last) whose input index lies in [0, input).
struct Inside {
  int64_t first, last;
};
Inside InsideOf(int64_t shift, int64_t stride, int64_t input, int64_t output);

// As a matrix product per group: weights times the patches of the image, which are written tile by tile.
class ConvAsGemm {
 public:
  ConvAsGemm() = default;
  ConvAsGemm(const ConvShape& shape, DType x, DType w, DType y);
  size_t Scratch(int threads) const;
  // bias and epilogue may be null, here and below.
  void Run(const void* x, const void* w, const void* bias, const Epilogue* epilogue, void* y, void* scratch,
           const Workers& workers) const;

 private:
  GemmParams Params() const;
  ConvShape shape_;
  DType x_type_ = DType::kF32, w_type_ = DType::kF32, y_type_ = DType::kF32;
  bool direct_ = false;  // 1x1: the image is the matrix
  std::vector<int64_t> w_at_, x_at_, y_at_, bias_at_;
};

// One input channel per group: each plane by itself.
void DepthwiseF32(const ConvShape& shape, const float* x, const float* w, const float* bias,
                  const Epilogue* epilogue, float* y, const Workers& workers);

// The gradient of a convolution with respect to its input: `input` is what is read, `output` what is written,
// begin what is cut from the front. w: [C, M / group, kernel…].
class ConvTransposeF32 {
 public:
  ConvTransposeF32() = default;
  explicit ConvTransposeF32(const ConvShape& shape);
  size_t Scratch(int threads) const;
  void Run(const float* x, const float* w, const float* bias, const Epilogue* epilogue, float* y,
           void* scratch, const Workers& workers) const;

 private:
  // Planes [first, first + maps) of the result, and taps [tap0, tap1) of each.
  struct Planes {
    int64_t first, maps;
    const float* bias;  // of the first
    int64_t tap0, tap1;
  };
  int64_t Columns() const { return maps_at_once_ * taps_at_once_ * shape_.input_size(); }
  GemmParams Params(int64_t maps, int64_t taps) const;
  void Spread(const float* columns, const Planes& planes, const Epilogue* epilogue, float* y,
              const Workers& workers) const;
  ConvShape shape_;
  int64_t maps_at_once_ = 1, taps_at_once_ = 1;  // several maps: all taps
};

}  // namespace tern::cpu
