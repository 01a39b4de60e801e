// Convolutions over [N, H, W, C] in f32 whose groups have few channels, as in ResNeXt and RegNet. A vector of
// channels contains one or more whole groups, so that no multiply-add is wasted on zeros.
#pragma once
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcGrouped {
 public:
  // Requires several groups of 4 or 8 channels with as many output channels, not larger than a vector;
  // kernels with three columns without dilation; a stride of 1 or 2 along rows; at most two spatial axes. The
  // dilation along columns must be so small that a job copies at most 2^20 floats.
  static bool Fits(const ConvShape& s);
  // Packs weights [M, C / group, kernel…] as [vectors of channels][kernel rows][C / group][3][lanes].
  static int64_t PackedSize(const ConvShape& s);  // in floats
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers);

  NhwcGrouped() = default;
  explicit NhwcGrouped(const ConvShape& shape);
  size_t Scratch(int threads) const;  // in bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;
  // Returns the number of floats that a run copies.
  double Copied() const;

 private:
  // A job computes the output rows [first, last) of one image for one vector of channels.
  struct Job {
    int64_t image, block, first, last;
  };
  int64_t InputRows(int64_t rows) const;
  void CopyRows(const float* x, const Job& job, float* to) const;
  void RunJob(const NhwcArgs& args, const Job& job, float* scratch) const;

  ConvShape shape_;
  int64_t lanes_ = 0, blocks_ = 0;
  int64_t columns_ = 0;           // pixels of a copied row
  int64_t rows_ = 1, bands_ = 0;  // output rows per job, jobs per image and vector of channels
  int size_ = 0, tile_ = 0;       // indices into GroupedNhwcTable
};

}  // namespace tern::cpu
