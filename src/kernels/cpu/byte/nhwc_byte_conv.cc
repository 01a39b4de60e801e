// Prepares an 8-bit convolution: chooses the source of windows and splits the work into jobs.
#include "kernels/cpu/byte/nhwc_byte_conv.h"

#include <algorithm>

#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/byte/copy_bytes.h"
#include "kernels/cpu/byte/nhwc_units.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

// Padded rows are used only if they are at most this many times as large as the windows.
constexpr double kScattered = 4;
constexpr int64_t kCopyOverhead = 12;  // overhead of copying a unit, in dwords
constexpr int64_t kPad = 64;           // bytes between rows, so that they do not collide in the L1 cache
constexpr int64_t kOverread = 4;       // bytes behind a copy that the last dword of a window may contain

bool Colliding(int64_t bytes) { return bytes % 2048 == 0; }

}  // namespace

NhwcByteConv::NhwcByteConv(const ConvShape& shape, DType x) : shape_(NonEmptyShape(shape)), flip_(FlipOf(x)) {
  const NhwcUnits units(shape_);
  by_rows_ = units.by_rows, units_ = units.count, unit_ = units.elements, dwords_ = units.dwords;
  shape_.group /= units.joined;
  SetSource();
}

bool NhwcByteConv::IsEmpty() const { return shape_.batch * shape_.output_size() == 0 || shape_.maps == 0; }

// Returns whether tiles can read windows without padding from the image.
bool NhwcByteConv::ReadsInPlace() const {
  return ByteTileSimd().element_bytes == 1 && !flip_ && unit_ % 4 == 0;
}

// Returns whether im2col is expected to be faster: if rows are too short for full tiles, if groups have few
// channels, or if the kernel has one tap and pixels must be copied anyway.
bool NhwcByteConv::PrefersIm2col() const {
  const ConvShape& s = shape_;
  const bool copied = NeedsPadding(s) || !ReadsInPlace();
  return LowTiles(s.output[2], ByteTileSimd().rows, ByteTileSimd().row_granule) ||
         (s.taps() == 1 && copied) || (s.group > 1 && s.group_channels() < 16);
}

// Returns whether padded rows take much more memory than the windows, as for widely dilated windows.
bool NhwcByteConv::Scattered() const {
  const ConvShape& s = shape_;
  const auto row = static_cast<double>(s.kernel[0] * s.span(2, columns_) * s.channels),
             windows = static_cast<double>(columns_ * s.group * units_ * unit_);
  const auto lines = static_cast<double>(s.span(1, 1)) - 1 + static_cast<double>(s.stride[1]);
  return lines * row > kScattered * windows;
}

void NhwcByteConv::SetSource() {
  const ConvShape& s = shape_;
  const bool padded = NeedsPadding(s);
  const int64_t width = ByteTileSimd().element_bytes;
  step_ = s.stride[2] * s.channels * width;
  const int64_t rows = ByteTileSimd().rows,
                max_columns = 4 * kNhwcBlockDwords / std::max<int64_t>(1, std::max(step_, s.maps));
  columns_ = s.output[2] <= max_columns ? s.output[2] : std::max<int64_t>(rows, max_columns / rows * rows);
  if (s.taps() == 1 && !padded && s.stride == Spatial{1, 1, 1} && s.input == s.output) {
    source_ = Source::kImage;
  } else if (Colliding(step_) || Scattered() || PrefersIm2col()) {
    source_ = Source::kIm2col;
    step_ = 4 * k() + (Colliding(4 * k()) ? kPad : 0);
    starts_ = {0};
  } else if (!padded && ReadsInPlace()) {
    source_ = Source::kWindows;
    const int64_t row = s.input[2] * s.channels;
    SetStarts(s.dilation[0] * s.input[1] * row, row);
  } else {
    source_ = Source::kPadded;
    const int64_t row = s.span(2, columns_) * s.channels * width;
    SetStarts(row, s.kernel[0] * row);
  }
}

void NhwcByteConv::SetStarts(int64_t plane, int64_t row) {
  const ConvShape& s = shape_;
  const int64_t pixel = s.channels * ByteTileSimd().element_bytes;
  plane_ = plane, row_ = row;
  starts_.clear();
  for (int64_t z = 0; z < s.kernel[0]; ++z)
    for (int64_t line = 0; line < s.kernel[1]; ++line)
      for (int64_t i = 0; i < (by_rows_ ? 1 : s.kernel[2]); ++i)
        starts_.push_back(z * plane + line * s.dilation[1] * row + i * s.dilation[2] * pixel);
}

// Returns the scratch memory of a job, in bytes.
int64_t NhwcByteConv::BlockBytes(int64_t rows) const {
  if (source_ == Source::kIm2col) return rows * step_;
  return source_ == Source::kPadded ? shape_.span(1, rows) * row_ + kOverread : 0;
}

NhwcJobShape NhwcByteConv::Jobs() const {
  const ConvShape& s = shape_;
  const ByteTileTable& table = ByteTileSimd();
  const bool pixels = source_ == Source::kIm2col;
  const int64_t width = pixels ? 1 : columns_, first = BlockBytes(1), row = BlockBytes(2) - first;
  return {s,
          pixels,
          width,
          k(),
          CeilDiv(pixels ? step_ : s.stride[1] * s.kernel[0] * width * step_, 4),
          CeilDiv(width * s.maps, 4),
          (first - row) / 4,
          CeilDiv(row, 4),
          table.rows,
          table.columns,
          table.granule,
          table.row_granule,
          table.dot_cost};
}

size_t NhwcByteConv::Scratch(int threads) const {
  if (IsEmpty()) return 0;
  if (source_ == Source::kImage) return ByteGemmScratch(Pointwise(0, {}), threads);
  return MostScratch(threads, [&](int n) {
    return Aligned(static_cast<size_t>(BlockBytes(BlockingOf(Jobs(), n).rows))) * static_cast<size_t>(n);
  });
}

NhwcCounts NhwcByteConv::Counts() const {
  const ConvShape& s = shape_;
  if (IsEmpty()) return {};
  const ByteTileTable& table = ByteTileSimd();
  const bool strips = source_ == Source::kWindows || source_ == Source::kPadded;
  const int64_t pixels = s.batch * s.output_size(), width = strips ? std::min(columns_, s.output[2]) : pixels;
  const auto groups = static_cast<double>(s.group), total = static_cast<double>(pixels),
             lines = total / static_cast<double>(width);
  NhwcCounts counts;
  counts.products = groups * lines * table.Products(width, s.group_maps(), k());
  if (source_ == Source::kIm2col)
    counts.copied = groups * total * static_cast<double>(k() + kCopyOverhead * units_);
  if (source_ == Source::kPadded) {
    const NhwcBlocking blocking = BlockingOf(Jobs(), 1);
    const auto blocks = static_cast<double>(blocking.blocks) * lines / static_cast<double>(s.output[1]);
    counts.copied = blocks * static_cast<double>(BlockBytes(blocking.rows)) / 4;
  }
  return counts;
}

}  // namespace tern::cpu
