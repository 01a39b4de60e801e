#include "kernels/cpu/conv/depthwise_nhwc.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWeights = 4096;  // maximum floats of weights per pass, so that they stay in the L1 cache
constexpr int64_t kMinWorkPerThread = 1 << 16;  // in multiply-adds
// Returns ceil(a / b), or 0 if a is negative.
int64_t CeilDivOr0(int64_t a, int64_t b) { return a <= 0 ? 0 : CeilDiv(a, b); }

}  // namespace

int64_t NhwcDepthwise::PackedSize(const ConvShape& s) {
  const int64_t lanes = DepthwiseNhwcSimd().lanes;
  return CeilDiv(s.channels, lanes) * s.taps() * lanes;
}

void NhwcDepthwise::Pack(const ConvShape& s, const float* w, float* to, const Workers&) {
  const int64_t lanes = DepthwiseNhwcSimd().lanes, taps = s.taps();
  for (int64_t block = 0; block < CeilDiv(s.channels, lanes); ++block) {
    const int64_t c0 = std::max<int64_t>(0, std::min(block * lanes, s.channels - lanes));
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t lane = 0; lane < lanes; ++lane)
        *to++ = c0 + lane < s.channels ? w[(c0 + lane) * taps + tap] : 0.f;
  }
}

// Returns the index of the specialization for this kernel and stride, or -1 if there is none.
int NhwcDepthwise::Kind() const {
  const ConvShape& s = shape_;
  const DepthwiseNhwcTable& table = DepthwiseNhwcSimd();
  if (s.kernel[0] != 1 || s.kernel[1] != s.kernel[2] || s.stride[1] != s.stride[2] ||
      (s.stride[1] != 1 && (s.dilation[1] != 1 || s.dilation[2] != 1)))
    return -1;
  for (int i = 0; i < kDepthwiseKinds; ++i)
    if (table.kinds[i].kernel == s.kernel[2] && table.kinds[i].stride == s.stride[2]) return i;
  return -1;
}

int64_t NhwcDepthwise::RowStep() const { return Kind() < 0 ? 1 : shape_.dilation[1]; }
int64_t NhwcDepthwise::ColumnStep() const { return Kind() < 0 ? 1 : shape_.dilation[2]; }

int64_t NhwcDepthwise::RowsAtOnce() const {
  const int kind = Kind();
  const DepthwiseNhwcTable& table = DepthwiseNhwcSimd();
  return kind < 0 || shape_.channels < table.lanes ? 1 : table.kinds[kind].rows;
}

// Returns the maximum number of pixel pointers that a job needs.
int64_t NhwcDepthwise::Pointers() const {
  const ConvShape& s = shape_;
  if (Kind() < 0) return kMaxAnyPixels * s.taps();
  return ((RowsAtOnce() - 1) * s.stride[1] + s.kernel[1]) * ((s.output[2] - 1) * s.stride[2] + s.kernel[2]);
}

// Writes pointers to all pixels that the windows of these lines read, row by row, for the output columns
// `column`, column + ColumnStep(), … Padding points to `zeros`.
void NhwcDepthwise::WindowPixels(const float* x, const Lines& lines, int64_t column, const float* zeros,
                                 const float** to) const {
  const ConvShape& s = shape_;
  const int64_t step = ColumnStep(), windows = CeilDiv(s.output[2] - column, step);
  const int64_t rows = (lines.count - 1) * s.stride[1] + s.kernel[1],
                columns = (windows - 1) * s.stride[2] + s.kernel[2];
  const int64_t z = lines.plane * s.stride[0] - s.begin[0];
  const int64_t left = std::clamp<int64_t>(CeilDivOr0(s.begin[2] - column, step), 0, columns),
                right =
                    std::clamp<int64_t>(CeilDivOr0(s.input[2] + s.begin[2] - column, step), left, columns);
  for (int64_t r = 0; r < rows; ++r, to += columns) {
    const int64_t y = lines.first * s.stride[1] + r * RowStep() - s.begin[1];
    if (z < 0 || z >= s.input[0] || y < 0 || y >= s.input[1]) {
      std::fill(to, to + columns, zeros);
      continue;
    }
    std::fill(to, to + left, zeros);
    const float* row =
        x +
        (((lines.image * s.input[0] + z) * s.input[1] + y) * s.input[2] + column - s.begin[2]) * s.channels;
    for (int64_t i = left; i < right; ++i) to[i] = row + i * step * s.channels;
    std::fill(to + right, to + columns, zeros);
  }
}

// Writes pointers to the pixels of windows [first, first + count) of a line, window by window and tap by tap.
// Padding points to `zeros`.
void NhwcDepthwise::AnyPixels(const float* x, const Lines& lines, int64_t first, int64_t count,
                              const float* zeros, const float** to) const {
  const ConvShape& s = shape_;
  for (int64_t i = first; i < first + count; ++i)
    for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
        const int64_t z = lines.plane * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                      y = lines.first * s.stride[1] + ky * s.dilation[1] - s.begin[1],
                      left = i * s.stride[2] - s.begin[2];
        const bool inside = z >= 0 && z < s.input[0] && y >= 0 && y < s.input[1];
        const int64_t row = ((lines.image * s.input[0] + z) * s.input[1] + y) * s.input[2];
        for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
          const int64_t at = left + kx * s.dilation[2];
          *to++ = inside && at >= 0 && at < s.input[2] ? x + (row + at) * s.channels : zeros;
        }
      }
}

// Computes the output columns `column`, column + ColumnStep(), …
void NhwcDepthwise::RunColumns(const NhwcArgs& args, const Lines& lines, int64_t column, DepthwisePart p,
                               const float* zeros, const float** pixels) const {
  const ConvShape& s = shape_;
  const DepthwiseNhwcTable& table = DepthwiseNhwcSimd();
  const int kind = Kind();
  const int64_t step = ColumnStep(), stride = args.pixel_stride_or(s.channels),
                windows = CeilDiv(s.output[2] - column, step);
  const int64_t pixel0 =
      ((lines.image * s.output[0] + lines.plane) * s.output[1] + lines.first) * s.output[2] + column;
  p.x = pixels, p.x_row = (windows - 1) * s.stride[2] + s.kernel[2];
  if (kind >= 0) WindowPixels(args.x, lines, column, zeros, pixels);
  const int64_t blocks = CeilDiv(s.channels, table.lanes),
                at_once = std::max<int64_t>(1, kWeights / (s.taps() * table.lanes));
  const EvenSplit tiles(windows, kind >= 0 ? table.kinds[kind].pixels : kMaxAnyPixels);
  for (p.block0 = 0; p.block0 < blocks; p.block0 = p.block1) {
    p.block1 = std::min(blocks, p.block0 + at_once);
    for (int64_t i = 0; i < tiles.parts(); ++i) {
      const int64_t at = tiles.Start(i), count = tiles.Size(i), pixel = pixel0 + at * step;
      p.y = args.y + pixel * stride;
      if (args.tile.residual) p.residual = args.tile.residual + pixel * stride;
      if (kind >= 0) {
        p.x = pixels + at * s.stride[2];
        (s.channels < table.lanes ? table.kinds[kind].part : table.kinds[kind].run[lines.count])[count](p);
      } else {
        AnyPixels(args.x, lines, at, count, zeros, pixels);
        table.any[count](p);
      }
    }
  }
}

void NhwcDepthwise::RunLines(const NhwcArgs& args, const Lines& lines, const float* zeros,
                             const float** pixels) const {
  const ConvShape& s = shape_;
  const int64_t stride = args.pixel_stride_or(s.channels), row = s.output[2] * stride;
  DepthwisePart p;
  p.taps = s.taps(), p.w = args.w, p.channels = s.channels;
  p.y_pixel = ColumnStep() * stride, p.y_row = RowStep() * row;
  p.bias = args.tile.bias;
  p.clip = args.tile.clip, p.low = args.tile.low, p.high = args.tile.high;
  for (int64_t column = 0; column < std::min(ColumnStep(), s.output[2]); ++column)
    RunColumns(args, lines, column, p, zeros, pixels);
  const int64_t first = ((lines.image * s.output[0] + lines.plane) * s.output[1] + lines.first) * row;
  for (int64_t r = 0; args.epilogue && r < lines.count; ++r)
    args.epilogue->Apply(first + r * p.y_row, row, args.y + first + r * p.y_row);
}

size_t NhwcDepthwise::Scratch(int threads) const {
  const auto zeros = static_cast<size_t>(CeilDiv(shape_.channels, 16) * 16);
  return zeros * sizeof(float) +
         static_cast<size_t>(Pointers()) * sizeof(const float*) * static_cast<size_t>(threads);
}

void NhwcDepthwise::Run(const NhwcArgs& args, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.batch * s.output_size() * s.channels == 0) return;
  const int64_t padded = CeilDiv(s.channels, 16) * 16;
  auto* zeros = static_cast<float*>(scratch);
  std::fill(zeros, zeros + padded, 0.f);
  auto** pixels = reinterpret_cast<const float**>(zeros + padded);
  // Groups of rows follow each other from the top to the bottom, so that they find their input rows in the
  // cache. A group whose first row is outside of the plane has no rows.
  const int64_t rows = RowsAtOnce(), step = RowStep(), phases = std::min(step, s.output[1]),
                groups = CeilDiv(s.output[1], rows * step) * phases, lines = s.batch * s.output[0] * groups,
                pointers = Pointers();
  const int64_t grain =
      std::max<int64_t>(1, kMinWorkPerThread / (rows * s.output[2] * s.channels * s.taps()));
  workers.ParallelFor(lines, grain, [&](int64_t begin, int64_t end, int worker) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i % groups, plane = i / groups,
                    first = group / phases * rows * step + group % phases;
      if (first >= s.output[1]) continue;
      RunLines(args,
               {plane / s.output[0], plane % s.output[0], first,
                std::min(rows, CeilDiv(s.output[1] - first, step))},
               zeros, pixels + worker * pointers);
    }
  });
}

}  // namespace tern::cpu
