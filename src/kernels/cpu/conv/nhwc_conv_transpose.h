// Transposed convolutions over [N, spatial…, C] in f32. With stride s, every s-th result uses the same taps
// of the kernel: each such phase is a convolution with stride 1 that writes y with stride s.
#pragma once
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcConvTranspose {
 public:
  // Shapes are those of ConvTransposeF32: `input` is the size of x, `output` that of y, `begin` is cropped
  // from the front. Depends on kernel, stride and dilation. False for widely dilated kernels: padded copies
  // of all pixels between the taps would take too much memory.
  static bool Fits(const ConvShape& s);
  // Packs weights [C, M / group, kernel…] phase by phase. Depends on channels, maps, group, kernel and stride
  // of the shape. PackedSize is in floats.
  static int64_t PackedSize(const ConvShape& s);
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers);

  NhwcConvTranspose() = default;
  explicit NhwcConvTranspose(const ConvShape& shape);
  size_t Scratch(int threads) const;  // bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  struct Phase {
    NhwcConv conv;
    int64_t weights;  // offset of the weights of the phase
  };
  std::vector<Phase> phases_;
};

}  // namespace tern::cpu
