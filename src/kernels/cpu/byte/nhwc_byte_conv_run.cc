// Runs an 8-bit convolution: copies windows that are not read in place, and computes products.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/byte/copy_bytes.h"
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

int64_t PixelStride(const NhwcByteArgs& args, int64_t maps) {
  return args.pixel_stride ? args.pixel_stride : maps;
}

ByteEpilogue EpilogueOf(const NhwcByteArgs& args, int64_t maps) {
  ByteEpilogue e = args.epilogue;
  if (e.residual_row == 0) e.residual_row = maps;
  return e;
}

const char* At(const void* p, int64_t bytes) { return static_cast<const char*>(p) + bytes; }
char* At(void* p, int64_t bytes) { return static_cast<char*>(p) + bytes; }

}  // namespace

// Returns the first output channel of a panel. Panels are numbered consecutively through all groups.
int64_t NhwcByteConv::MapOf(int64_t panel) const {
  const int64_t width = ByteTileSimd().columns, panels = CeilDiv(shape_.group_maps(), width);
  return panel / panels * shape_.group_maps() + panel % panels * width;
}

ByteCopier NhwcByteConv::Copier() const { return {flip_, ByteTileSimd().element_bytes}; }

ByteGemm NhwcByteConv::Pointwise(int64_t group, const NhwcByteArgs& args) const {
  const ConvShape& s = shape_;
  const int64_t n0 = group * s.group_maps();
  ByteGemm p;
  p.m = s.batch * s.output_size(), p.n = s.group_maps(), p.k = s.group_channels();
  p.a = At(args.x, group * p.k), p.a_row = s.channels;
  p.a_type = flip_ ? DType::kI8 : DType::kU8;
  if (!args.w) return p;
  const ByteTileTable& table = ByteTileSimd();
  p.panels =
      BytePanels(args.w, s.maps) + group * CeilDiv(s.group_maps(), table.columns) * table.PanelBytes(dwords_);
  p.epilogue = EpilogueOf(args, s.maps);
  ByteEpilogue& e = p.epilogue;
  const int64_t width = OutputWidth(e);
  p.c = At(args.y, n0 * width), p.c_row = PixelStride(args, s.maps);
  if (e.bias) e.bias += n0;
  if (e.scale) e.scale += n0;
  if (e.f32_bias) e.f32_bias += n0;
  if (e.f32_residual) e.f32_residual += n0;
  if (e.residual) e.residual = At(e.residual, n0);
  return p;
}

// Copies the rows that the windows of a job read, with padding: [rows][kernel planes][pixels].
void NhwcByteConv::CopyPadded(const NhwcByteArgs& args, const NhwcJob& job, uint8_t* to) const {
  const ConvShape& s = shape_;
  const auto zero = static_cast<uint8_t>(args.x_zero ^ flip_);
  const ByteCopier copier = Copier();
  const int64_t bytes = s.channels * copier.width;  // of a copied pixel
  const int64_t width = s.span(2, job.right - job.left), rows = s.span(1, job.last - job.first);
  const int64_t begin = s.begin[2] - job.left * s.stride[2];  // pixels of padding in front of the image
  const int64_t left = std::clamp<int64_t>(begin, 0, width),
                right = std::clamp<int64_t>(s.input[2] + begin, left, width);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t z = 0; z < s.kernel[0]; ++z, to += plane_) {
      const int64_t plane = job.plane * s.stride[0] + z * s.dilation[0] - s.begin[0],
                    line = job.first * s.stride[1] + i - s.begin[1];
      if (plane < 0 || plane >= s.input[0] || line < 0 || line >= s.input[1]) {
        copier.Fill(to, width * s.channels, zero);
        continue;
      }
      const int64_t pixel =
          ((job.image * s.input[0] + plane) * s.input[1] + line) * s.input[2] + left - begin;
      copier.Fill(to, left * s.channels, zero);
      copier.Copy(static_cast<const uint8_t*>(args.x) + pixel * s.channels, (right - left) * s.channels,
                  to + left * bytes);
      copier.Fill(to + right * bytes, (width - right) * s.channels, zero);
    }
}

// Copies the units of one row of a window, which starts at pixel `left` of the image row. `row` is null if
// the image row is padding.
void NhwcByteConv::CopyUnit(const uint8_t* row, int64_t left, uint8_t zero, uint8_t* to) const {
  const ConvShape& s = shape_;
  const ByteCopier copier = Copier();
  const int64_t bytes = s.channels * copier.width;  // of a copied pixel
  if (!row) return copier.Fill(to, (by_rows_ ? 1 : s.kernel[2]) * 4 * dwords_ / copier.width, zero);
  if (by_rows_) {
    const int64_t before = std::clamp<int64_t>(-left, 0, s.kernel[2]),
                  end = std::clamp<int64_t>(s.input[2] - left, before, s.kernel[2]);
    copier.Fill(to, before * s.channels, zero);
    copier.Copy(row + (left + before) * s.channels, (end - before) * s.channels, to + before * bytes);
    return copier.Fill(to + end * bytes, (s.kernel[2] - end) * s.channels, zero);
  }
  for (int64_t i = 0; i < s.kernel[2]; ++i, to += 4 * dwords_) {
    const int64_t at = left + i * s.dilation[2];
    if (at < 0 || at >= s.input[2])
      copier.Fill(to, unit_, zero);
    else
      copier.Copy(row + at * s.channels, unit_, to);
  }
}

// Copies the windows of one group, one by one (im2col).
void NhwcByteConv::CopyIm2col(const NhwcByteArgs& args, const NhwcJob& job, int64_t group,
                              uint8_t* to) const {
  const ConvShape& s = shape_;
  const auto zero = static_cast<uint8_t>(args.x_zero ^ flip_);
  const auto* x = static_cast<const uint8_t*>(args.x) + group * s.group_channels();
  for (int64_t pixel = job.first; pixel < job.last; ++pixel, to += step_) {
    uint8_t* out = to;
    const int64_t i = pixel % s.output[2], line = pixel / s.output[2] % s.output[1],
                  z = pixel / (s.output[2] * s.output[1]) % s.output[0], image = pixel / s.output_size();
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky, out += (by_rows_ ? 1 : s.kernel[2]) * 4 * dwords_) {
        const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      iy = line * s.stride[1] + ky * s.dilation[1] - s.begin[1];
        const bool inside = iz >= 0 && iz < s.input[0] && iy >= 0 && iy < s.input[1];
        const int64_t row = inside ? ((image * s.input[0] + iz) * s.input[1] + iy) * s.input[2] : 0;
        CopyUnit(inside ? x + row * s.channels : nullptr, i * s.stride[2] - s.begin[2], zero, out);
      }
  }
}

// Returns the start of the first window of a job. Copies the padded rows first if the source is kPadded.
const uint8_t* NhwcByteConv::FirstWindow(const NhwcByteArgs& args, const NhwcJob& job,
                                         uint8_t* scratch) const {
  const ConvShape& s = shape_;
  if (source_ == Source::kPadded) CopyPadded(args, job, scratch);
  if (source_ != Source::kWindows) return scratch;
  const int64_t plane = job.image * s.input[0] + job.plane * s.stride[0] - s.begin[0],
                line = plane * s.input[1] + job.first * s.stride[1] - s.begin[1];
  return static_cast<const uint8_t*>(args.x) +
         (line * s.input[2] + job.left * s.stride[2] - s.begin[2]) * s.channels;
}

void NhwcByteConv::RunJob(const NhwcByteArgs& args, const ByteEpilogue& e, bool rounds, const NhwcJob& job,
                          uint8_t* scratch) const {
  const ConvShape& s = shape_;
  const ByteTileTable& table = ByteTileSimd();
  const bool pixels = source_ == Source::kIm2col;
  const int64_t strips = pixels ? 1 : job.last - job.first,
                count = pixels ? job.last - job.first : job.right - job.left, width = OutputWidth(e);
  // The first output pixel of the job.
  const int64_t at =
      pixels ? job.first
             : ((job.image * s.output[0] + job.plane) * s.output[1] + job.first) * s.output[2] + job.left;
  const uint8_t* a = FirstWindow(args, job, scratch);
  const void* residual = ResidualOf(e);
  ByteTile t;
  t.a_row = step_, t.c_row = PixelStride(args, s.maps);
  t.SetEpilogue(e, rounds);
  t.k = pixels ? k() : dwords_, t.segments = static_cast<int64_t>(starts_.size()), t.starts = starts_.data();
  for (int64_t panel = job.panel0, last = -1; panel < job.panel1; ++panel) {
    const int64_t map = MapOf(panel), group = map / s.group_maps();
    if (pixels && group != last) CopyIm2col(args, job, group, scratch);
    last = group;
    t.column = map;
    t.columns = std::min<int64_t>(table.columns, (group + 1) * s.group_maps() - map);
    t.b = BytePanels(args.w, s.maps) + panel * table.PanelBytes(k());
    for (int64_t i = 0; i < strips; ++i) {
      const int64_t pixel = at + i * s.output[2];
      t.a = a + i * s.stride[1] * row_ + (pixels ? 0 : group * s.group_channels() * table.element_bytes);
      t.c = At(args.y, (pixel * t.c_row + map) * width);
      if (residual) t.residual = At(residual, (pixel * e.residual_row + map) * width);
      table.RunRows(t, count);
    }
  }
}

void NhwcByteConv::Run(const NhwcByteArgs& args, void* scratch, const Workers& workers) const {
  if (IsEmpty()) return;
  if (source_ == Source::kImage) {
    for (int64_t g = 0; g < shape_.group; ++g) MultiplyBytes(Pointwise(g, args), scratch, workers);
    return;
  }
  const NhwcJobShape jobs = Jobs();
  const NhwcBlocking blocking = BlockingOf(jobs, workers.threads());
  const ByteEpilogue e = EpilogueOf(args, shape_.maps);
  const bool rounds = RoundsInRegisters(e, shape_.maps, unit_ * units_);
  const auto bytes = static_cast<int64_t>(Aligned(static_cast<size_t>(BlockBytes(blocking.rows))));
  workers.ParallelFor(blocking.jobs(), 1, [&](int64_t begin, int64_t end, int worker) {
    const TileScope scope;
    for (int64_t job = begin; job < end; ++job)
      RunJob(args, e, rounds, JobOf(jobs, blocking, job), static_cast<uint8_t*>(scratch) + worker * bytes);
  });
}

}  // namespace tern::cpu
