// Convolutions over [N, H, W, C] in f32 of which many taps read padding, as in the dilated convolutions of
// DeepLab. Each tap is a matrix product over the part of the image that it reads, so that padding costs
// nothing.
#pragma once
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcTaps {
 public:
  // Requires one group, at most two spatial axes, at most 1024 taps, and a tap that never reads padding.
  static bool Fits(const ConvShape& s);
  // The weights are packed as by NhwcConv.
  static int64_t PackedSize(const ConvShape& s) { return NhwcConv::PackedSize(s); }
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers) {
    NhwcConv::Pack(s, w, to, workers);
  }

  NhwcTaps() = default;
  explicit NhwcTaps(const ConvShape& shape);
  size_t Scratch(int) const { return 0; }
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;
  // Effective multiply-adds of a run, see TileProducts.
  double Products() const;

 private:
  // A tap, and the output rows and columns for which it reads pixels.
  struct Tap {
    int64_t index = 0;
    int64_t row = 0, column = 0;  // offset of the pixel that it reads, from the scaled output position
    Inside rows{}, columns{};
  };
  // Output rows [first, last) of an image, for one panel of output channels.
  struct Job {
    int64_t image, panel, first, last;
  };
  static std::vector<Tap> TapsOf(const ConvShape& s);
  void RunTap(const NhwcArgs& args, const Job& job, const Tap& tap, bool first) const;
  void Finish(const NhwcArgs& args, const Job& job) const;

  ConvShape shape_;
  std::vector<Tap> taps_;  // the first never reads padding; the others read some pixels
};

}  // namespace tern::cpu
