// Convolutions over [N, C, spatial…] with up to three spatial axes.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "kernels/cpu/gemm/gemm.h"

namespace tern::cpu {

// One number per spatial axis. With fewer than three spatial axes, the leading sizes are 1.
using Spatial = std::array<int64_t, 3>;

// `maps` is the number of output channels.
struct ConvShape {
  int64_t batch = 1, channels = 1, maps = 1, group = 1;
  Spatial input{1, 1, 1}, kernel{1, 1, 1}, output{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1},
      begin{0, 0, 0};  // `begin` is the padding in front; a negative value crops

  int64_t group_channels() const { return channels / group; }
  int64_t group_maps() const { return maps / group; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Returns the largest number of taps that one window can have inside the image, along an axis.
  int64_t inside(size_t axis) const { return kernel[axis] < input[axis] ? kernel[axis] : input[axis]; }
  int64_t taps_inside() const { return inside(0) * inside(1) * inside(2); }
  // Returns how many input elements `windows` neighbouring windows cover along an axis. For example, 2
  // windows of a kernel of 3 taps with stride 2 cover 5 elements.
  int64_t span(size_t axis, int64_t windows) const {
    return (windows - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1;
  }
  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
};

// The range [first, last) of output positions along one axis whose input index, position * stride + shift, is
// in [0, input).
struct Inside {
  int64_t first, last;
};
Inside InsideOf(int64_t shift, int64_t stride, int64_t input, int64_t output);

// Convolution as one matrix product per image and group: weights times the im2col matrix. The im2col matrix
// is generated block by block while the product packs it.
class ConvAsGemm {
 public:
  ConvAsGemm() = default;
  ConvAsGemm(const ConvShape& shape, DType x, DType w, DType y);
  size_t Scratch(int threads) const;
  // bias and epilogue may be null, here and in the functions below.
  void Run(const void* x, const void* w, const void* bias, const Epilogue* epilogue, void* y, void* scratch,
           const Workers& workers) const;

 private:
  GemmParams Params() const;
  ConvShape shape_;
  DType x_type_ = DType::kF32, w_type_ = DType::kF32, y_type_ = DType::kF32;
  bool direct_ = false;  // whether the image itself is the im2col matrix (1x1 kernel, stride 1, no padding)
  std::vector<int64_t> w_at_, x_at_, y_at_, bias_at_;
};

// Computes a depthwise convolution, plane by plane. Each group must have one input channel.
void DepthwiseF32(const ConvShape& shape, const float* x, const float* w, const float* bias,
                  const Epilogue* epilogue, float* y, const Workers& workers);

// Transposed convolution. Computes a matrix product and adds its elements to the output (col2im). In the
// shape, `input` is the size of x, and `output` is the size of y. `begin` is the number of elements that are
// cropped from the front of y. w is [channels, maps / group, kernel…].
class ConvTransposeF32 {
 public:
  ConvTransposeF32() = default;
  explicit ConvTransposeF32(const ConvShape& shape);
  size_t Scratch(int threads) const;
  void Run(const float* x, const float* w, const float* bias, const Epilogue* epilogue, float* y,
           void* scratch, const Workers& workers) const;

 private:
  // Argument of AddToPlanes, which adds the products of kernel taps [tap0, tap1) to planes [first, first +
  // maps) of y.
  struct Planes {
    int64_t first, maps;
    const float* bias;  // points to the bias of the first plane
    int64_t tap0, tap1;
  };
  int64_t ColumnsSize() const { return maps_at_once_ * taps_at_once_ * shape_.input_size(); }
  GemmParams Params(int64_t maps, int64_t taps) const;
  void AddToPlanes(const float* columns, const Planes& planes, const Epilogue* epilogue, float* y,
                   const Workers& workers) const;
  ConvShape shape_;
  // Output channels and taps per matrix product. If maps_at_once_ is more than 1, taps_at_once_ is taps().
  int64_t maps_at_once_ = 1, taps_at_once_ = 1;
};

}  // namespace tern::cpu
