// Depthwise convolutions over [N, spatial…, C] in f32, vectorized along channels.
#pragma once
#include "kernels/cpu/conv/depthwise_nhwc_simd.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

class NhwcDepthwise {
 public:
  static bool Fits(const ConvShape& s) { return s.group == s.channels && s.maps == s.channels; }
  // Packs weights [C, 1, kernel…] as [blocks of channels][kernel…][channels of a block].
  static int64_t PackedSize(const ConvShape& s);  // in floats
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers);

  NhwcDepthwise() = default;
  explicit NhwcDepthwise(const ConvShape& shape) : shape_(shape) {}
  size_t Scratch(int threads) const;  // in bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;

 private:
  // `count` output rows of one plane: `first`, first + RowStep(), …
  struct Lines {
    int64_t image, plane, first, count;
  };
  // With dilation, output pixels of every d-th row and column form a convolution without dilation. RowStep
  // and ColumnStep are these d. They are 1 if a specialization does not exist.
  int Kind() const;
  int64_t RowStep() const;
  int64_t ColumnStep() const;
  int64_t RowsAtOnce() const;
  int64_t Pointers() const;
  void WindowPixels(const float* x, const Lines& lines, int64_t column, const float* zeros,
                    const float** to) const;
  void AnyPixels(const float* x, const Lines& lines, int64_t first, int64_t count, const float* zeros,
                 const float** to) const;
  void RunColumns(const NhwcArgs& args, const Lines& lines, int64_t column, DepthwisePart part,
                  const float* zeros, const float** pixels) const;
  void RunLines(const NhwcArgs& args, const Lines& lines, const float* zeros, const float** pixels) const;

  ConvShape shape_;
};

}  // namespace tern::cpu
