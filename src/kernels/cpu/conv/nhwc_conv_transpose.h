// Transposed convolutions over [N, spatial…, C] in f32. With stride s, every s-th result sees the same taps:
// each such phase is a convolution with stride 1 whose results are spread over y.
#pragma once
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcConvTranspose {
 public:
  // Shapes are those of ConvTransposeF32: `input` is what is read, `output` what is written, begin what is
  // cut from the front. Kernel, stride and dilation decide; windows that reach far beyond what they read
  // do not fit, for lack of memory to copy all that lies between.
  static bool Fits(const ConvShape& s);
  // Weights [C, M / group, kernel…] become those of each phase, one after the other. Of the shape channels,
  // maps, group, kernel and stride matter. PackedSize: in floats.
  static int64_t PackedSize(const ConvShape& s);
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers);

  NhwcConvTranspose() = default;
  explicit NhwcConvTranspose(const ConvShape& shape);
  size_t Scratch(int threads) const;  // bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  struct Phase {
    NhwcConv conv;
    int64_t weights;  // where they start
  };
  std::vector<Phase> phases_;
};

}  // namespace tern::cpu
