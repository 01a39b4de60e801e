// Prepares a convolution: packs weights, chooses the source of windows, and splits the work into jobs.
#include "kernels/cpu/conv/nhwc_conv.h"

#include <algorithm>

#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/job_rounds.h"

namespace tern::cpu {
namespace {

// Padded rows are used only if they are at most this many times as large as the windows.
constexpr double kScattered = 4;
constexpr int64_t kCopyOverhead = 12;  // overhead of copying a pixel, in dwords
constexpr int64_t kPad = 16;           // dwords of padding that keep rows from colliding in the L1 cache

int64_t Joined(const ConvShape& s) { return JoinedGroups(s, TileSimd().columns / 2); }

// Writes the weights [M, C / group, kernel…] with every `joined` groups merged into one. Weights between an
// output channel and an input channel of different groups are zero.
void Join(const ConvShape& s, int64_t joined, const float* w, float* to) {
  const int64_t channels = s.group_channels() * s.taps(), wide = channels * joined;
  std::fill(to, to + s.maps * wide, 0.f);
  for (int64_t map = 0; map < s.maps; ++map)
    std::copy_n(w + map * channels, channels, to + map * wide + map / s.group_maps() % joined * channels);
}

// Packs one row of the kernels of `maps` output channels, in the order [kernel column][C].
void PackRow(const TileTable& table, const float* w, const ConvShape& s, int64_t maps, float* to) {
  const int64_t taps = s.taps(), size = s.kernel[2] * s.channels;
  std::vector<float> rows(static_cast<size_t>(maps * size));
  for (int64_t map = 0; map < maps; ++map)
    for (int64_t i = 0; i < size; ++i)
      rows[static_cast<size_t>(map * size + i)] =
          w[(map * s.channels + i % s.channels) * taps + i / s.channels];
  table.pack(rows.data(), 1, size, size, maps, 1.0f, to);
}

// Returns whether a dword may contain bf16 numbers of two neighbouring pixels. This is done for odd numbers
// of channels, such as RGB images. Otherwise each pixel starts a new dword. Windows must start at a dword
// boundary. The last dword of a window's row may contain an element beyond the window, which is multiplied by
// a zero weight.
bool AlongRows(const ConvShape& s, const TileTable& table) {
  return s.group == 1 && s.channels % table.per_lane != 0 && s.kernel[2] > 1 && s.dilation[2] == 1 &&
         s.stride[2] * s.channels % table.per_lane == 0;
}

}  // namespace

int64_t NhwcConv::PackedSize(const ConvShape& s, Operands operands) {
  const TileTable& table = TileFor(operands);
  if (s.channels == 0 || s.maps == 0) return 0;
  const int64_t joined = Joined(s), maps = s.group_maps() * joined;
  if (AlongRows(s, table))
    return PanelsSize(s.kernel[0] * s.kernel[1] * table.dwords(s.kernel[2] * s.channels), maps);
  return s.group / joined * PanelsSize(s.taps() * table.dwords(s.group_channels() * joined), maps);
}

void NhwcConv::Pack(const ConvShape& shape, const float* w, float* to, const Workers& workers,
                    Operands operands) {
  if (PackedSize(shape, operands) == 0) return;
  ConvShape s = shape;
  std::vector<float> wide;
  if (const int64_t joined = Joined(s); joined > 1) {
    wide.resize(static_cast<size_t>(s.maps * s.group_channels() * s.taps() * joined));
    Join(s, joined, w, wide.data());
    w = wide.data();
    s.group /= joined;
  }
  const TileTable& table = TileFor(operands);
  const int64_t channels = s.group_channels(), maps = s.group_maps(), taps = s.taps(), k = taps * channels,
                panels = CeilDiv(maps, table.columns);
  const bool rows = AlongRows(s, table);
  const int64_t units = rows ? s.kernel[0] * s.kernel[1] : taps, size = k / units,
                step = table.columns * table.dwords(size);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, table.columns * k));
  workers.ParallelFor(s.group * panels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n0 = i % panels * table.columns, n = std::min<int64_t>(table.columns, maps - n0);
      const float* from = w + (i / panels * maps + n0) * k;
      float* panel = to + i * units * step;
      for (int64_t unit = 0; unit < units; ++unit, panel += step)
        if (rows)
          PackRow(table, from + unit * s.kernel[2], s, n, panel);
        else
          table.pack(from + unit, taps, k, channels, n, 1.0f, panel);
    }
  });
}

NhwcConv::NhwcConv(const ConvShape& shape, Operands operands, NhwcWindows windows)
    : shape_(NonEmptyShape(shape)), operands_(operands) {
  const int64_t row = shape_.output[2] * shape_.maps;
  strides_ = {0, shape_.output_size() * shape_.maps, shape_.output[1] * row, row, shape_.maps};
  shape_.group /= Joined(shape);
  SetSource(false, windows);
}

NhwcConv::NhwcConv(const ConvShape& shape, const NhwcStrides& strides, Operands operands)
    : shape_(NonEmptyShape(shape)), strides_(strides), operands_(operands) {
  shape_.group /= Joined(shape);
  SetSource(true, NhwcWindows::kInPlace);
}

// Returns whether im2col is expected to be faster. It is faster if rows are too short for full tiles, or if
// groups have few channels. It is also faster if the kernel has one tap and pixels must be copied anyway.
bool NhwcConv::PrefersIm2col() const {
  const ConvShape& s = shape_;
  const bool copied =
      NeedsPadding(s) || operands_ != Operands::kF32 || Collide(s.stride[2] * s.group * dwords_);
  return LowTiles(s.output[2], table().rows, table().row_granule) || (s.taps() == 1 && copied) ||
         (s.group > 1 && s.group_channels() < 16);
}

// Returns whether padded rows take much more memory than the windows. This is so for widely dilated windows,
// because padded rows contain all pixels between the taps.
bool NhwcConv::Scattered() const {
  const auto to_double = [](int64_t n) { return static_cast<double>(n); };
  const ConvShape& s = shape_;
  const double pixel = to_double(s.group * dwords_) / (along_rows_ ? to_double(s.kernel[2]) : 1),
               row = to_double(s.kernel[0]) * to_double(s.span(2, columns_)) * pixel,
               windows = to_double(columns_) * to_double(s.group * k());
  const double read = to_double(s.stride[1] * s.kernel[0]) * to_double(columns_ * s.stride[2]) * pixel,
               written = to_double(columns_ * s.maps);
  const double rows = std::clamp(to_double(kNhwcBlockDwords) / std::max(1.0, std::max(read, written)), 1.0,
                                 std::max(1.0, to_double(s.output[1])));
  const double lines = (rows - 1) * to_double(s.stride[1]) + to_double((s.kernel[1] - 1) * s.dilation[1] + 1);
  return lines * row > kScattered * rows * windows;
}

void NhwcConv::SetIm2col() {
  source_ = Source::kIm2col;
  segment_ = k();
  row_ = pixel_ = k() + (Collide(k()) ? kPad : 0);
  starts_ = {0};
}

// Chooses the source of windows. The choice, and therefore the order of additions, does not depend on the
// number of threads.
void NhwcConv::SetSource(bool scattered_output, NhwcWindows windows) {
  const ConvShape& s = shape_;
  along_rows_ = !scattered_output && AlongRows(s, table());
  units_ = along_rows_ ? s.kernel[0] * s.kernel[1] : s.taps();
  dwords_ = table().dwords(s.group_channels() * (along_rows_ ? s.kernel[2] : 1));
  const bool padded = NeedsPadding(s), rounded = operands_ != Operands::kF32;
  const int64_t pixel_dwords = s.group * dwords_;
  const int64_t step = along_rows_ ? s.stride[2] * s.channels / table().per_lane : s.stride[2] * pixel_dwords;
  const int64_t rows = table().rows,
                max_columns = kNhwcBlockDwords / std::max<int64_t>(1, std::max(step, s.maps));
  columns_ = s.output[2] <= max_columns ? s.output[2] : std::max<int64_t>(rows, max_columns / rows * rows);
  if (!scattered_output && s.taps() == 1 && !padded && s.stride == Spatial{1, 1, 1} && s.input == s.output) {
    source_ = Source::kImage;
  } else if (windows == NhwcWindows::kIm2col ||
             (!scattered_output && (padded || rounded || Collide(step)) && Scattered())) {
    SetIm2col();
  } else if (along_rows_) {
    source_ = Source::kPadded;
    const int64_t row = table().dwords(s.span(2, columns_) * s.channels);
    SetStarts(row, s.kernel[0] * row, 0);
  } else if (windows == NhwcWindows::kAny && PrefersIm2col()) {
    SetIm2col();
  } else if (!padded && !rounded && !Collide(step)) {
    source_ = Source::kWindows;
    const int64_t row = s.input[2] * s.channels;
    SetStarts(s.dilation[0] * s.input[1] * row, row, s.channels);
  } else {
    source_ = Source::kPadded;
    const int64_t pixel = pixel_dwords + (Collide(step) ? kPad : 0);
    const int64_t row = s.span(2, columns_) * pixel;
    SetStarts(row, s.kernel[0] * row, pixel);
  }
  step_ = source_ == Source::kIm2col ? pixel_ : along_rows_ ? step : s.stride[2] * pixel_;
}

void NhwcConv::SetStarts(int64_t plane, int64_t row, int64_t pixel) {
  const ConvShape& s = shape_;
  plane_ = plane, row_ = row, pixel_ = pixel;
  const bool contiguous = along_rows_ || (s.dilation[2] == 1 && pixel == dwords_);
  segment_ = dwords_ * (contiguous && !along_rows_ ? s.kernel[2] : 1);
  starts_.clear();
  for (int64_t z = 0; z < s.kernel[0]; ++z)
    for (int64_t line = 0; line < s.kernel[1]; ++line)
      for (int64_t i = 0; i < (contiguous ? 1 : s.kernel[2]); ++i)
        starts_.push_back(z * plane + line * s.dilation[1] * row + i * s.dilation[2] * pixel);
}

// Returns the scratch memory of a job, in dwords.
int64_t NhwcConv::BlockDwords(int64_t rows) const {
  if (source_ == Source::kIm2col)
    return rows * pixel_ + (along_rows_ ? shape_.kernel[2] * shape_.channels : 0);
  if (source_ == Source::kPadded)
    return shape_.span(1, rows) * row_ + (along_rows_ ? shape_.span(2, columns_) * shape_.channels : 0);
  return 0;
}

NhwcJobShape NhwcConv::Jobs() const {
  const ConvShape& s = shape_;
  const bool pixels = source_ == Source::kIm2col;
  const int64_t width = pixels ? 1 : columns_;
  const int64_t first = BlockDwords(1);
  return {s,
          pixels,
          width,
          k(),
          pixels ? pixel_ : s.stride[1] * s.kernel[0] * width * step_,
          width * s.maps,
          first - (BlockDwords(2) - first),
          BlockDwords(2) - first,
          table().rows,
          table().columns,
          table().granule,
          table().row_granule,
          table().dot_cost};
}

bool NhwcConv::IsEmpty() const { return shape_.batch * shape_.output_size() == 0 || shape_.maps == 0; }

NhwcCounts NhwcConv::Counts() const {
  const ConvShape& s = shape_;
  if (IsEmpty()) return {};
  const bool strips = source_ == Source::kWindows || source_ == Source::kPadded;
  const int64_t pixels = s.batch * s.output_size(), width = strips ? std::min(columns_, s.output[2]) : pixels;
  NhwcCounts counts;
  const auto groups = static_cast<double>(s.group), total = static_cast<double>(pixels),
             lines = total / static_cast<double>(width);
  counts.products = groups * lines * TileProducts(table(), width, s.group_maps(), k());
  if (source_ == Source::kIm2col)
    counts.copied = groups * total * static_cast<double>(k() + kCopyOverhead * s.taps());
  if (source_ == Source::kPadded) {
    const NhwcBlocking blocking = BlockingOf(Jobs(), 1);
    const auto blocks = static_cast<double>(blocking.blocks) * lines / static_cast<double>(s.output[1]);
    counts.copied = blocks * static_cast<double>(BlockDwords(blocking.rows));
  }
  return counts;
}

size_t NhwcConv::Scratch(int threads) const {
  if (IsEmpty()) return 0;
  if (source_ == Source::kImage) return PanelScratch(Pointwise(0, {}), threads);
  return MostScratch(threads, [&](int n) {
    return static_cast<size_t>(BlockDwords(BlockingOf(Jobs(), n).rows)) * sizeof(float) *
           static_cast<size_t>(n);
  });
}

}  // namespace tern::cpu
