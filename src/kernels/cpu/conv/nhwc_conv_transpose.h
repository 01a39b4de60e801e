// Transposed convolutions over [N, spatial…, C] in f32. With stride s, every s-th result along an axis uses
// the same taps of the kernel. Such results form a phase. Each phase is a convolution with stride 1 that
// writes y with stride s.
#pragma once
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcConvTranspose {
 public:
  // Returns whether the kernel, stride and dilation are supported. As in ConvTransposeF32, `input` is the
  // size of x, and `output` is the size of y. `begin` is the number of elements that are cropped from the
  // front of y. Along each axis, the stride or the dilation must be 1. The product of the strides is
  // limited, because it is the number of phases. Widely dilated kernels are not supported, because the
  // padded copies would contain all pixels between the taps and take too much memory.
  static bool Fits(const ConvShape& s);
  // Packs weights [C, M / group, kernel…] phase by phase. The packed weights depend only on channels, maps,
  // group, kernel and stride of the shape. PackedSize is in floats.
  static int64_t PackedSize(const ConvShape& s);
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers);

  NhwcConvTranspose() = default;
  explicit NhwcConvTranspose(const ConvShape& shape);
  size_t Scratch(int threads) const;  // in bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  struct Phase {
    NhwcConv conv;
    int64_t weights;  // offset of the weights of the phase
  };
  std::vector<Phase> phases_;
};

}  // namespace tern::cpu
