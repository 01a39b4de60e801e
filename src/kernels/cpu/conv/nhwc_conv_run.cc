// Runs a convolution: copies windows that are not read in place, and computes products.
#include "kernels/cpu/conv/nhwc_conv.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/element_at.h"

namespace tern::cpu {
namespace {

void Copy(const float* from, int64_t count, float* to) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}

}  // namespace

// Returns the first output channel of a panel. Panels are numbered consecutively through all groups.
int64_t NhwcConv::MapOf(int64_t panel) const {
  const int64_t width = table().columns, panels = CeilDiv(shape_.group_maps(), width);
  return panel / panels * shape_.group_maps() + panel % panels * width;
}

PanelProduct NhwcConv::Pointwise(int64_t group, const NhwcArgs& args) const {
  const ConvShape& s = shape_;
  const int64_t n0 = group * s.group_maps();
  PanelProduct p;
  p.operands = operands_;
  p.m = s.batch * s.output_size(), p.n = s.group_maps(), p.k = s.group_channels();
  p.bf16_a = bf16_.x, p.bf16_c = bf16_.y;
  p.a = ElementAt(args.x, group * p.k, bf16_.x), p.a_row = s.channels;
  p.panels = args.w + group * PanelsSize(p.k, p.n, operands_);
  p.c = ElementAt(args.y, n0, bf16_.y), p.c_row = args.pixel_stride_or(s.maps), p.c_at = n0;
  p.tile = args.tile, p.epilogue = args.epilogue;
  if (p.tile.bias) p.tile.bias += n0;
  if (p.tile.residual) p.tile.residual = ElementAt(p.tile.residual, n0, p.tile.bf16_residual);
  return p;
}

// Copies `count` contiguous elements of x as dwords of the operand type.
void NhwcConv::CopyDwords(const float* from, int64_t count, float* to) const {
  if (bf16_.x)
    Copy(from, count / 2, to);
  else
    table().copy(from, count, to);
}

// Copies contiguous pixels. In the copy, the channels of each group start at a dword boundary.
void NhwcConv::CopyPixels(const float* from, int64_t count, float* to) const {
  const ConvShape& s = shape_;
  const TileTable& table = this->table();
  const int64_t channels = s.group_channels();
  // Each group fills its dwords, so one call can copy the channels of all groups.
  const bool full = channels == dwords_ * table.per_lane;
  if (full && pixel_ == s.group * dwords_) return CopyDwords(from, count * s.channels, to);
  for (int64_t i = 0; i < count; ++i, from = ElementAt(from, s.channels, bf16_.x), to += pixel_) {
    if (full)
      CopyDwords(from, s.channels, to);
    else
      for (int64_t g = 0; g < s.group; ++g) table.copy(from + g * channels, channels, to + g * dwords_);
  }
}

// Copies the rows that the windows of a job read, with zero padding: [rows][kernel planes][pixels].
void NhwcConv::CopyPadded(const float* x, const NhwcJob& job, float* to) const {
  const ConvShape& s = shape_;
  const int64_t width = s.span(2, job.right - job.left), rows = s.span(1, job.last - job.first);
  const int64_t begin = s.begin[2] - job.left * s.stride[2];  // pixels of padding in front of the image
  const int64_t left = std::clamp<int64_t>(begin, 0, width),
                right = std::clamp<int64_t>(s.input[2] + begin, left, width);
  float* exact = to + rows * row_;  // space for a row in f32, before it is packed into dwords
  const int64_t size = along_rows_ ? table().dwords(width * s.channels) : width * pixel_;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t z = 0; z < s.kernel[0]; ++z, to += plane_) {
      const int64_t plane = job.plane * s.stride[0] + z * s.dilation[0] - s.begin[0],
                    line = job.first * s.stride[1] + i - s.begin[1];
      if (plane < 0 || plane >= s.input[0] || line < 0 || line >= s.input[1]) {
        std::fill(to, to + size, 0.f);
        continue;
      }
      const int64_t pixel =
          ((job.image * s.input[0] + plane) * s.input[1] + line) * s.input[2] + left - begin;
      const float* row = ElementAt(x, pixel * s.channels, bf16_.x);
      if (along_rows_) {
        std::fill(exact, exact + left * s.channels, 0.f);
        Copy(row, (right - left) * s.channels, exact + left * s.channels);
        std::fill(exact + right * s.channels, exact + width * s.channels, 0.f);
        table().copy(exact, width * s.channels, to);
        continue;
      }
      std::fill(to, to + left * pixel_, 0.f);
      CopyPixels(row, right - left, to + left * pixel_);
      std::fill(to + right * pixel_, to + width * pixel_, 0.f);
    }
}

// Copies one row of a window that starts at pixel `left` of the image row. `row` is null if the image row is
// padding. `exact` is space for the row in f32.
void NhwcConv::CopyWindowRow(const float* row, int64_t left, float* exact, float* to) const {
  const ConvShape& s = shape_;
  const int64_t channels = s.group_channels();
  if (!row) {
    std::fill(to, to + (along_rows_ ? 1 : s.kernel[2]) * dwords_, 0.f);
    return;
  }
  float* out = along_rows_ ? exact : to;
  for (int64_t i = 0; i < s.kernel[2]; ++i, out += along_rows_ ? channels : dwords_) {
    const int64_t at = left + i * s.dilation[2];
    if (at < 0 || at >= s.input[2])
      std::fill(out, out + (along_rows_ ? channels : dwords_), 0.f);
    else if (along_rows_)
      Copy(row + at * s.channels, channels, out);
    else
      CopyDwords(ElementAt(row, at * s.channels, bf16_.x), channels, out);
  }
  if (along_rows_) table().copy(exact, s.kernel[2] * channels, to);
}

// Copies the windows of one group, one by one (im2col).
void NhwcConv::CopyIm2col(const float* x, const NhwcJob& job, int64_t group, float* to) const {
  const ConvShape& s = shape_;
  float* exact = to + (job.last - job.first) * pixel_;
  for (int64_t pixel = job.first; pixel < job.last; ++pixel, to += pixel_) {
    float* out = to;
    const int64_t i = pixel % s.output[2], line = pixel / s.output[2] % s.output[1],
                  z = pixel / (s.output[2] * s.output[1]) % s.output[0], image = pixel / s.output_size();
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky, out += (along_rows_ ? 1 : s.kernel[2]) * dwords_) {
        const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      iy = line * s.stride[1] + ky * s.dilation[1] - s.begin[1];
        const bool inside = iz >= 0 && iz < s.input[0] && iy >= 0 && iy < s.input[1];
        const int64_t row = inside ? ((image * s.input[0] + iz) * s.input[1] + iy) * s.input[2] : 0;
        const float* from = ElementAt(x, row * s.channels + group * s.group_channels(), bf16_.x);
        CopyWindowRow(inside ? from : nullptr, i * s.stride[2] - s.begin[2], exact, out);
      }
  }
}

// Returns the start of the first window of a job. Copies the padded rows first if the source is kPadded.
const float* NhwcConv::FirstWindow(const NhwcArgs& args, const NhwcJob& job, float* scratch) const {
  const ConvShape& s = shape_;
  if (source_ == Source::kPadded) CopyPadded(args.x, job, scratch);
  if (source_ != Source::kWindows) return scratch;
  const int64_t plane = job.image * s.input[0] + job.plane * s.stride[0] - s.begin[0],
                line = plane * s.input[1] + job.first * s.stride[1] - s.begin[1];
  return args.x + (line * s.input[2] + job.left * s.stride[2] - s.begin[2]) * s.channels;
}

void NhwcConv::RunJob(const NhwcArgs& args, const NhwcJob& job, float* scratch) const {
  const ConvShape& s = shape_;
  const TileTable& table = this->table();
  const TileEpilogue& e = args.tile;
  const bool pixels = source_ == Source::kIm2col;
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : job.right - job.left;
  const int64_t at = pixels ? job.first * s.maps
                            : strides_.first + job.image * strides_.image + job.plane * strides_.plane +
                                  job.first * strides_.row + job.left * strides_.pixel;
  const float* a = FirstWindow(args, job, scratch);
  Tile t;
  t.a_row = step_;
  t.k = segment_, t.segments = static_cast<int64_t>(starts_.size()), t.starts = starts_.data();
  // These offsets are in pixels instead of elements, because the pixel strides of y and the residual may
  // differ.
  const int64_t pixel = args.pixel_stride_or(s.maps), at_pixel = at / s.maps,
                row_pixels = strides_.row / s.maps;
  t.residual_row = strides_.pixel, t.c_row = strides_.pixel / s.maps * pixel;
  t.clip = e.clip, t.low = e.low, t.high = e.high;
  t.bf16_c = bf16_.y, t.bf16_residual = e.bf16_residual;
  for (int64_t panel = job.panel0, last = -1; panel < job.panel1; ++panel) {
    const int64_t map = MapOf(panel), group = map / s.group_maps();
    if (pixels && group != last) CopyIm2col(args.x, job, group, scratch);
    last = group;
    t.columns = std::min<int64_t>(table.columns, (group + 1) * s.group_maps() - map);
    t.b = args.w + panel * table.columns * k();
    t.bias = e.bias ? e.bias + map : nullptr;
    for (int64_t i = 0; i < strips; ++i) {
      t.a = a + i * s.stride[1] * row_ + (pixels ? 0 : group * dwords_);
      const int64_t first = at + i * strides_.row + map;
      t.c = ElementAt(args.y, (at_pixel + i * row_pixels) * pixel + map, bf16_.y);
      if (e.residual) t.residual = ElementAt(e.residual, first, e.bf16_residual);
      table.RunRows(t, count);
    }
  }
  if (args.epilogue) Finish(args, job, at);
}

// Applies the epilogue to the results of a job, which start at element `at` of y.
void NhwcConv::Finish(const NhwcArgs& args, const NhwcJob& job, int64_t at) const {
  const bool pixels = source_ == Source::kIm2col;
  const int64_t map = MapOf(job.panel0), width = MapOf(job.panel1) - map;
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : job.right - job.left;
  for (int64_t i = 0; i < strips; ++i) {
    const int64_t from = at + i * strides_.row + map;
    args.epilogue->Apply(width == strides_.pixel ? Epilogue::Rows{1, count * width, from, 0, args.y + from, 0}
                                                 : Epilogue::Rows{count, width, from, strides_.pixel,
                                                                  args.y + from, strides_.pixel});
  }
}

void NhwcConv::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (IsEmpty()) return;
  if (source_ == Source::kImage) {
    for (int64_t g = 0; g < s.group; ++g) MultiplyPanels(Pointwise(g, args), scratch, workers);
    return;
  }
  const NhwcJobShape jobs = Jobs();
  const NhwcBlocking blocking = BlockingOf(jobs, workers.threads());
  const int64_t dwords = BlockDwords(blocking.rows);
  workers.ParallelFor(blocking.jobs(), 1, [&](int64_t begin, int64_t end, int worker) {
    const TileScope scope;
    for (int64_t job = begin; job < end; ++job)
      RunJob(args, JobOf(jobs, blocking, job), static_cast<float*>(scratch) + worker * dwords);
  });
}

}  // namespace tern::cpu
