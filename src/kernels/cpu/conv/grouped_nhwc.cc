#include "kernels/cpu/conv/grouped_nhwc.h"

#include <algorithm>

#include "kernels/cpu/conv/grouped_nhwc_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kColumns = 3;    // columns of the kernel
constexpr int64_t kCopied = 6144;  // floats that a job copies, so that they stay in the L1 cache
constexpr double kMaxCopied =
    1 << 20;  // if a job would copy more, because of a large dilation, Fits is false
constexpr int64_t kMinWorkPerThread = 1 << 16;  // in multiply-adds

// Returns the index of the group size, or -1 if there is no function for it.
int SizeIndex(const ConvShape& s) {
  const GroupedNhwcTable& table = GroupedNhwcSimd();
  for (int i = 0; i < kGroupSizes; ++i)
    if (table.sizes[i] == s.group_channels() && s.group_maps() == s.group_channels()) return i;
  return -1;
}

// Returns the index of the tile that computes rows of n pixels fastest, or -1 if n is 0. The last tile of a
// row overlaps the tile before it. A tile of t pixels takes the time of about t + 1 pixels.
int BestTile(int64_t n, int64_t stride) {
  const int* pixels = GroupedNhwcSimd().pixels[stride - 1];
  int best = -1;
  int64_t least = 0;
  for (int i = 0; i < kGroupedTiles; ++i) {
    if (pixels[i] > n) continue;
    const int64_t time = CeilDiv(n, pixels[i]) * (pixels[i] + 1);
    if (best < 0 || time < least) best = i, least = time;
  }
  return best;
}

}  // namespace

bool NhwcGrouped::Fits(const ConvShape& s) {
  const double copied = (static_cast<double>(s.kernel[1] - 1) * static_cast<double>(s.dilation[1]) + 1) *
                        static_cast<double>(s.output[2] * s.stride[2] + kColumns) *
                        static_cast<double>(GroupedNhwcSimd().lanes);
  if (copied > kMaxCopied) return false;
  return s.group > 1 && SizeIndex(s) >= 0 && s.kernel[0] == 1 && s.input[0] == 1 && s.begin[0] == 0 &&
         s.stride[0] == 1 && s.kernel[2] == kColumns && s.dilation[2] == 1 && s.stride[2] <= 2;
}

int64_t NhwcGrouped::PackedSize(const ConvShape& s) {
  const int64_t lanes = GroupedNhwcSimd().lanes;
  return CeilDiv(s.channels, lanes) * lanes * s.group_channels() * s.taps();
}

void NhwcGrouped::Pack(const ConvShape& s, const float* w, float* to, const Workers&) {
  const int64_t lanes = GroupedNhwcSimd().lanes, size = s.group_channels(), taps = s.taps();
  for (int64_t first = 0; first < s.channels; first += lanes)
    for (int64_t row = 0; row < s.kernel[1]; ++row)
      for (int64_t c = 0; c < size; ++c)
        for (int64_t column = 0; column < kColumns; ++column)
          for (int64_t lane = 0; lane < lanes; ++lane) {
            const int64_t map = first + lane;
            *to++ = map < s.maps ? w[(map * size + c) * taps + row * kColumns + column] : 0.f;
          }
}

NhwcGrouped::NhwcGrouped(const ConvShape& shape)
    : shape_(shape), lanes_(GroupedNhwcSimd().lanes), blocks_(CeilDiv(shape.channels, lanes_)) {
  const ConvShape& s = shape_;
  size_ = SizeIndex(s), tile_ = BestTile(s.output[2], s.stride[2]);
  columns_ = s.span(2, std::max<int64_t>(1, s.output[2]));
  const int64_t most = std::max<int64_t>(1, s.output[1]);
  while (rows_ < most && InputRows(rows_ + 1) * columns_ * lanes_ <= kCopied) ++rows_;
  bands_ = CeilDiv(s.output[1], rows_);
  rows_ = CeilDiv(s.output[1], std::max<int64_t>(1, bands_));
}

int64_t NhwcGrouped::InputRows(int64_t rows) const { return shape_.span(1, rows); }

double NhwcGrouped::Copied() const {
  return static_cast<double>(shape_.batch * blocks_ * bands_ * InputRows(rows_) * columns_ * lanes_);
}

// Copies the input rows of a job with their padding: [rows][columns_][lanes].
void NhwcGrouped::CopyRows(const float* x, const Job& job, float* to) const {
  const ConvShape& s = shape_;
  const int64_t row = columns_ * lanes_, channel = job.block * lanes_,
                channels = std::min(lanes_, s.channels - channel);
  const int64_t left = std::clamp<int64_t>(s.begin[2], 0, columns_),
                right = std::clamp<int64_t>(s.input[2] + s.begin[2], left, columns_);
  for (int64_t r = 0; r < InputRows(job.last - job.first); ++r, to += row) {
    const int64_t y = job.first * s.stride[1] + r - s.begin[1];
    if (y < 0 || y >= s.input[1]) {
      std::fill(to, to + row, 0.f);
      continue;
    }
    std::fill(to, to + left * lanes_, 0.f);
    const int64_t pixel = (job.image * s.input[1] + y) * s.input[2] + left - s.begin[2];
    GroupedNhwcSimd().copy(x + pixel * s.channels + channel, s.channels, right - left, channels,
                           to + left * lanes_);
    std::fill(to + right * lanes_, to + row, 0.f);
  }
}

void NhwcGrouped::RunJob(const NhwcArgs& args, const Job& job, float* scratch) const {
  const ConvShape& s = shape_;
  const GroupedNhwcTable& table = GroupedNhwcSimd();
  const auto stride = static_cast<size_t>(s.stride[2] - 1);
  const int64_t pixels = table.pixels[stride][tile_], width = s.output[2],
                step = args.pixel_stride_or(s.channels), channel = job.block * lanes_;
  CopyRows(args.x, job, scratch);
  GroupedTile t;
  t.x_row = s.dilation[1] * columns_ * lanes_, t.rows = s.kernel[1];
  t.w = args.w + job.block * lanes_ * s.group_channels() * s.taps();
  t.y_pixel = step, t.channels = std::min(lanes_, s.channels - channel);
  t.bias = args.tile.bias ? args.tile.bias + channel : nullptr;
  t.clip = args.tile.clip, t.low = args.tile.low, t.high = args.tile.high;
  for (int64_t row = job.first; row < job.last; ++row) {
    const float* x = scratch + (row - job.first) * s.stride[1] * columns_ * lanes_;
    const int64_t pixel0 = (job.image * s.output[1] + row) * width;
    for (int64_t i = 0; i < width; i += pixels) {
      const int64_t at = std::min(i, width - pixels);
      t.x = x + at * s.stride[2] * lanes_;
      t.y = args.y + (pixel0 + at) * step + channel;
      if (args.tile.residual) t.residual = args.tile.residual + (pixel0 + at) * s.channels + channel;
      table.run[size_][stride][tile_](t);
    }
  }
  if (!args.epilogue || args.epilogue->empty()) return;
  const int64_t at = (job.image * s.output[1] + job.first) * width * s.channels + channel;
  args.epilogue->Apply(
      Epilogue::Rows{(job.last - job.first) * width, t.channels, at, s.channels, args.y + at, s.channels});
}

size_t NhwcGrouped::Scratch(int threads) const {
  return static_cast<size_t>(InputRows(rows_) * columns_ * lanes_ * threads) * sizeof(float);
}

void NhwcGrouped::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.batch * s.output_size() * s.channels == 0) return;
  const int64_t floats = InputRows(rows_) * columns_ * lanes_,
                work = rows_ * s.output[2] * lanes_ * s.group_channels() * s.taps();
  workers.ParallelFor(
      s.batch * bands_ * blocks_, std::max<int64_t>(1, kMinWorkPerThread / std::max<int64_t>(1, work)),
      [&](int64_t begin, int64_t end, int worker) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t band = i / blocks_ % bands_, first = band * rows_;
          RunJob(args, {i / blocks_ / bands_, i % blocks_, first, std::min(first + rows_, s.output[1])},
                 static_cast<float*>(scratch) + worker * floats);
        }
      });
}

}  // namespace tern::cpu
