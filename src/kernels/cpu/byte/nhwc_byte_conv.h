// Convolutions of 8-bit images [N, spatial…, C] with 8-bit weights and sums in i32.
#pragma once
#include "kernels/cpu/byte/byte_panels.h"
#include "kernels/cpu/byte/copy_bytes.h"
#include "kernels/cpu/conv/nhwc_conv.h"

namespace tern::cpu {

struct NhwcByteArgs {
  const void* x = nullptr;
  int32_t x_zero = 0;         // padding has this value
  const int8_t* w = nullptr;  // weights that Pack has written
  void* y = nullptr;          // [N, spatial…, M] of 8 bits, f32 or i32, see ByteEpilogue::output
  // Columns are output channels. residual_row is the stride between pixels of the residual; 0 means M.
  ByteEpilogue epilogue;
  int64_t pixel_stride = 0;  // stride between pixels of y, in elements; 0 means M
};

// Supports any kernel, stride, dilation and number of groups.
class NhwcByteConv {
 public:
  // Packs weights [M, C / group, kernel…]; zero_per_column means per output channel. FitsI8(w, 1, k, k, M)
  // must be true for k = C / group * taps, and k must be at most kMaxByteDepth. WeightSums(to) are the sums
  // of the M output channels. The packed weights depend only on channels, maps, group, kernel, stride and
  // dilation of the shape.
  static int64_t PackedSize(const ConvShape& s);  // in bytes
  static void Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers);

  NhwcByteConv() = default;
  explicit NhwcByteConv(const ConvShape& shape, DType x = DType::kU8);  // x is u8 or i8
  size_t Scratch(int threads) const;                                    // in bytes
  void Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const;
  // Estimates the work, for the cost model. `products` is the number of f32 multiply-adds that take the same
  // time. `copied` is in dwords of four bytes.
  NhwcCounts Counts() const;

 private:
  // The source of the rows of the matrix product, as in NhwcConv.
  enum class Source : uint8_t { kImage, kWindows, kPadded, kIm2col };
  void SetSource();
  void SetStarts(int64_t plane, int64_t row);
  bool IsEmpty() const;
  bool ReadsInPlace() const;
  bool PrefersIm2col() const;
  bool Scattered() const;
  int64_t k() const { return units_ * dwords_; }  // dwords of a window
  int64_t MapOf(int64_t panel) const;
  NhwcJobShape Jobs() const;
  int64_t BlockBytes(int64_t rows) const;
  ByteCopier Copier() const;
  ByteGemm Pointwise(int64_t group, const NhwcByteArgs& args) const;
  void CopyPadded(const NhwcByteArgs& args, const NhwcJob& job, uint8_t* to) const;
  void CopyUnit(const uint8_t* row, int64_t left, uint8_t zero, uint8_t* to) const;
  void CopyIm2col(const NhwcByteArgs& args, const NhwcJob& job, int64_t group, uint8_t* to) const;
  const uint8_t* FirstWindow(const NhwcByteArgs& args, const NhwcJob& job, uint8_t* scratch) const;
  void RunJob(const NhwcByteArgs& args, const ByteEpilogue& e, bool rounds, const NhwcJob& job,
              uint8_t* scratch) const;

  ConvShape shape_;  // after groups are merged
  uint8_t flip_ = 0;
  Source source_ = Source::kImage;
  bool by_rows_ = false;         // a unit is a row of the kernel with all its channels; otherwise a tap
  int64_t units_ = 0;            // units of a window
  int64_t unit_ = 0;             // elements of a unit
  int64_t dwords_ = 0;           // dwords of a unit in the packed weights
  int64_t row_ = 0, plane_ = 0;  // strides of the source of windows, in bytes
  int64_t step_ = 0;             // stride between windows
  int64_t columns_ = 0;          // maximum number of output pixels of a row per job
  std::vector<int64_t> starts_;  // offset of each unit, see ByteTile::starts
};

// Depthwise convolutions: every group has one channel and one output channel. With fewer than kMinChannels
// channels, they are computed by NhwcByteConv.
class NhwcByteDepthwise {
 public:
  static bool Fits(const ConvShape& s) { return s.group == s.channels && s.maps == s.channels; }
  // As in NhwcByteConv.
  static int64_t PackedSize(const ConvShape& s);
  static void Pack(const ConvShape& s, const ByteWeights& w, int8_t* to, const Workers& workers);

  NhwcByteDepthwise() = default;
  explicit NhwcByteDepthwise(const ConvShape& shape, DType x = DType::kU8);
  size_t Scratch(int threads) const;
  void Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const;

 private:
  static constexpr int64_t kMinChannels = 16;
  // `count` output rows of one plane, starting at row `first`.
  struct Lines {
    int64_t image, plane, first, count;
  };
  // Scratch memory of a run. `pixels` is that of one thread.
  struct Memory {
    const uint8_t* x;      // the image as u8
    const uint8_t* zeros;  // a pixel of padding
    const int32_t* bias;   // in the order of lanes
    const float* scale;
    bool rounds;  // see ByteDepthwisePart
    const uint8_t** pixels;
  };
  int64_t RowsAtOnce() const;
  int64_t Pointers() const;  // maximum number of pixel pointers of a thread
  size_t ImageBytes() const;
  void WindowPixels(const Lines& lines, const Memory& memory) const;
  void AnyPixels(const Lines& lines, int64_t first, int64_t count, const Memory& memory) const;
  void RunLines(const NhwcByteArgs& args, const ByteEpilogue& e, const Lines& lines,
                const Memory& memory) const;

  ConvShape shape_;
  uint8_t flip_ = 0;
  int kind_ = -1;        // index of the specialization of ByteDepthwiseTable, or -1
  int64_t weights_ = 0;  // bytes of packed weights per channel
  NhwcByteConv conv_;    // if there are few channels
};

}  // namespace tern::cpu
