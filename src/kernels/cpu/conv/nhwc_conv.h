// Convolutions over [N, spatial…, C] as products of windows with panels of weights. Windows are read in place
// or copied. Images and results are f32, or bf16 in memory (NhwcBf16Storage). With bf16 operands, pixels of
// f32 images are rounded while they are copied.
#pragma once
#include "kernels/cpu/conv/nhwc_jobs.h"
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

// Arguments of a convolution over channels-last images. y is [N, spatial…, M]; w points to weights that Pack
// has written.
struct NhwcArgs {
  const float *x = nullptr, *w = nullptr;
  float* y = nullptr;
  TileEpilogue tile;                   // applied in registers; bias and residual have all M output channels
  const Epilogue* epilogue = nullptr;  // applied after `tile`, while results are in cache; may be null
  // Stride between pixels of y, in elements. 0 means that y is dense, with stride M. If pixel_stride is not
  // 0, the residual and `epilogue` must be null.
  int64_t pixel_stride = 0;
  int64_t pixel_stride_or(int64_t maps) const { return pixel_stride ? pixel_stride : maps; }
};

// Says which tensors are bf16 in memory. If x or y is bf16, the operands must be kBf16. If x is bf16, groups
// must have an even number of channels. If y is bf16, NhwcArgs::epilogue must be null.
struct NhwcBf16Storage {
  bool x = false, y = false;
};

// Offset of the first result in y, and strides of y, in elements.
struct NhwcStrides {
  int64_t first, image, plane, row, pixel;
};

// How windows are read. With kInPlace, windows are read from the image or from a padded copy of a few rows.
// If that copy would be much larger than the windows, im2col is used instead. With kIm2col, windows are
// copied one by one into the rows of a matrix. With kAny, NhwcConv chooses kInPlace or kIm2col by the shape.
enum class NhwcWindows : uint8_t { kAny, kInPlace, kIm2col };

// The amount of work of a run, from which its time is estimated.
struct NhwcCounts {
  double products = 0;  // effective multiply-adds of dwords, see TileProducts
  double copied = 0;    // dwords that are copied
};

// Supports any kernel, stride, dilation and number of groups.
class NhwcConv {
 public:
  // Packs weights [M, C / group, kernel…] into panels per group, with rows in the order [kernel…, C]. Groups
  // with few output channels are merged into one group, so that their output channels fill vectors. In a
  // merged group, the weights between channels of different original groups are zero. The packed weights
  // depend only on channels, maps, group, kernel, stride and dilation of the shape. PackedSize is in dwords.
  static int64_t PackedSize(const ConvShape& s, Operands operands = Operands::kF32);
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers,
                   Operands operands = Operands::kF32);

  NhwcConv() = default;
  explicit NhwcConv(const ConvShape& shape, Operands operands = Operands::kF32,
                    NhwcWindows windows = NhwcWindows::kAny);
  // Creates a convolution that writes its results with strides into a larger y.
  NhwcConv(const ConvShape& shape, const NhwcStrides& strides, Operands operands = Operands::kF32);
  void SetBf16Storage(const NhwcBf16Storage& storage) { bf16_ = storage; }
  size_t Scratch(int threads) const;  // in bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;
  NhwcCounts Counts() const;
  bool uses_im2col() const { return source_ == Source::kIm2col; }

 private:
  // The source of the rows of the matrix product.
  enum class Source : uint8_t {
    kImage,    // the kernel has one tap, so every pixel is a row
    kWindows,  // windows are read in the image, because nothing is padded or rounded
    kPadded,   // windows are read in a copy of a few rows of the image with their padding
    kIm2col,   // windows are copied one by one
  };
  void SetSource(bool scattered_output, NhwcWindows windows);
  void SetIm2col();
  bool IsEmpty() const;  // returns whether the output has no elements
  bool PrefersIm2col() const;
  bool Scattered() const;
  void SetStarts(int64_t plane, int64_t row, int64_t pixel);
  const TileTable& table() const { return TileFor(operands_); }
  int64_t k() const { return units_ * dwords_; }
  int64_t MapOf(int64_t panel) const;
  int64_t BlockDwords(int64_t rows) const;
  NhwcJobShape Jobs() const;
  PanelProduct Pointwise(int64_t group, const NhwcArgs& args) const;
  void CopyDwords(const float* from, int64_t count, float* to) const;
  void CopyPixels(const float* from, int64_t count, float* to) const;
  void CopyPadded(const float* x, const NhwcJob& job, float* to) const;
  void CopyWindowRow(const float* row, int64_t left, float* exact, float* to) const;
  void CopyIm2col(const float* x, const NhwcJob& job, int64_t group, float* to) const;
  const float* FirstWindow(const NhwcArgs& args, const NhwcJob& job, float* scratch) const;
  void Finish(const NhwcArgs& args, const NhwcJob& job, int64_t at) const;
  void RunJob(const NhwcArgs& args, const NhwcJob& job, float* scratch) const;

  ConvShape shape_;
  NhwcStrides strides_{};
  Operands operands_ = Operands::kF32;
  NhwcBf16Storage bf16_;
  Source source_ = Source::kImage;
  bool along_rows_ = false;      // dwords are packed along rows of x, across pixels; see AlongRows
  int64_t units_ = 0;            // pixels of a window; if along_rows_, rows of a window
  int64_t dwords_ = 0;           // dwords per unit and group
  int64_t row_ = 0, pixel_ = 0;  // strides of the source of windows, in dwords
  int64_t step_ = 0;             // stride between windows
  int64_t plane_ = 0;            // stride between kernel planes
  int64_t columns_ = 0;          // maximum number of output pixels of a row per job
  int64_t segment_ = 0;          // contiguous dwords of a window, see Tile::segments
  std::vector<int64_t> starts_;  // offset of each segment
};

}  // namespace tern::cpu
