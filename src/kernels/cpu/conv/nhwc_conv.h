// Convolutions over [N, spatial…, C]: products of windows, read where they lie, and panels of weights. Images
// and results are f32; with operands in bf16 pixels are rounded while they are copied.
#pragma once
#include "kernels/cpu/conv/conv.h"
#include "kernels/cpu/gemm/panels.h"

namespace tern::cpu {

// What a convolution over channels-last images works on. y is [N, spatial…, M], w as Pack left it.
struct NhwcArgs {
  const float *x = nullptr, *w = nullptr;
  float* y = nullptr;
  TileEpilogue tile;                   // in registers; bias and residual are those of all M
  const Epilogue* epilogue = nullptr;  // then, while results are in cache; may be null
  // Elements from one pixel of y to the next where other values lie between them: only without a residual
  // and an epilogue but the tile's. 0: none do.
  int64_t apart = 0;
  int64_t pixel(int64_t maps) const { return apart ? apart : maps; }
};

// Which of them are bf16 in memory, for operands of bf16. x: groups must have even numbers of channels; y:
// no epilogue but the tile's.
struct NhwcBf16Storage {
  bool x = false, y = false;
};

// Where results go, in elements of y: from the beginning to the first, and from one to the next.
struct NhwcSteps {
  int64_t first, image, plane, row, pixel;
};

// How windows are read: as the shape suggests, where they lie (perhaps from a padded copy of some rows; in
// columns all the same where that copy would be much larger than they are), or copied one by one into the
// rows of a matrix (im2col).
enum class NhwcWindows : uint8_t { kAny, kInPlace, kColumns };

// What the products and copies of a run amount to, for estimates of its time.
struct NhwcCounts {
  double products = 0;  // words, see TileProducts
  double copied = 0;    // words
};

// Any window, any number of groups.
class NhwcConv {
 public:
  // Weights [M, C / group, kernel…] become one set of panels per group, with rows in the order [kernel…, C].
  // Groups of few maps are joined, with zeros between them: vectors of results are better filled then.
  // Of the shape only channels, maps, group, kernel, stride and dilation matter. PackedSize: in words of 32
  // bits.
  static int64_t PackedSize(const ConvShape& s, Operands operands = Operands::kF32);
  static void Pack(const ConvShape& s, const float* w, float* to, const Workers& workers,
                   Operands operands = Operands::kF32);

  NhwcConv() = default;
  explicit NhwcConv(const ConvShape& shape, Operands operands = Operands::kF32,
                    NhwcWindows windows = NhwcWindows::kAny);
  // Results that are spread over a larger y.
  NhwcConv(const ConvShape& shape, const NhwcSteps& steps, Operands operands = Operands::kF32);
  void SetBf16Storage(const NhwcBf16Storage& narrow) { narrow_ = narrow; }
  size_t Scratch(int threads) const;  // bytes
  void Run(const NhwcArgs& args, void* scratch, const Workers& workers) const;
  NhwcCounts Counts() const;
  bool in_columns() const { return source_ == Source::kColumns; }

 private:
  // Where the rows of the product come from.
  enum class Source : uint8_t {
    kImage,    // every pixel is a row: kernels of one tap
    kWindows,  // the image itself: no window hangs over its edge, nothing is rounded
    kPadded,   // some rows of the image, copied with what is around it
    kColumns,  // windows copied one by one
  };
  // Some rows of one image's output, or a part of each (kColumns: some pixels of all outputs), times some of
  // all groups' panels.
  struct Job {
    int64_t image, plane, first, last;
    int64_t left, right;
    int64_t panel0, panel1;
  };
  struct Cut {
    int64_t rows, blocks;  // output rows (kColumns: pixels) of a job; blocks of a plane (or of all)
    int64_t panels, panel_jobs;
  };
  double CostOf(int64_t rows, int64_t panels) const;
  void Share(int64_t all, int64_t planes, int threads, Cut& cut) const;
  void SetSource(bool spread, NhwcWindows windows);
  void SetColumns();
  bool Nothing() const;  // to compute
  bool PrefersColumns() const;
  bool Scattered() const;
  void SetStarts(int64_t plane, int64_t row, int64_t pixel);
  const TileTable& table() const { return TileFor(operands_); }
  int64_t k() const { return units_ * words_; }
  int64_t MapOf(int64_t panel) const;
  int64_t BlockLanes(int64_t rows) const;
  Cut CutOf(int threads) const;
  Job JobOf(const Cut& cut, int64_t job) const;
  PanelProduct Pointwise(int64_t group, const NhwcArgs& args) const;
  void CopyLanes(const float* from, int64_t count, float* to) const;
  void CopyPixels(const float* from, int64_t count, float* to) const;
  void CopyPadded(const float* x, const Job& job, float* to) const;
  void CopyWindowRow(const float* row, int64_t left, float* exact, float* to) const;
  void CopyColumns(const float* x, const Job& job, int64_t group, float* to) const;
  const float* FirstWindow(const NhwcArgs& args, const Job& job, float* scratch) const;
  void Finish(const NhwcArgs& args, const Job& job, int64_t at) const;
  void RunJob(const NhwcArgs& args, const Job& job, float* scratch) const;

  ConvShape shape_;
  NhwcSteps steps_{};
  Operands operands_ = Operands::kF32;
  NhwcBf16Storage narrow_;
  Source source_ = Source::kImage;
  bool rows_ = false;            // words hold neighbours of a row, of different pixels too
  int64_t units_ = 0;            // of a window: its pixels or rows
  int64_t words_ = 0;            // of a unit's channels in one group
  int64_t row_ = 0, pixel_ = 0;  // words from row to row and from pixel to pixel of what is read
  int64_t step_ = 0;             // from window to window
  int64_t plane_ = 0;            // from one kernel plane to the next
  int64_t columns_ = 0;          // output pixels of a row that are computed at once
  int64_t piece_ = 0;            // words of a window that lie together
  std::vector<int64_t> starts_;  // of these
};

}  // namespace tern::cpu
