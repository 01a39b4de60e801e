#include "kernels/cpu/pool/pool_nhwc.h"

#include <algorithm>

#include "kernels/cpu/pool/pool_nhwc_simd.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

constexpr int64_t kMinWorkPerThread = 1 << 15;  // in elements read

}  // namespace

NhwcPool::NhwcPool(Kind kind, const ConvShape& shape, PoolDivisors divisors)
    : kind_(kind), shape_(shape), divisors_(std::move(divisors)) {
  // Rows are combined first if this reads and writes fewer elements per output pixel.
  const int64_t rows = shape.inside(0) * shape.inside(1), columns = shape.inside(2);
  by_lines_ = rows * columns > (rows + 1) * shape.stride[2] + columns;
}

// Returns the size of the scratch memory for pointers, in floats. There are pointers to the input rows of an
// output row, and to the pixels of a window.
int64_t NhwcPool::PointerFloats() const {
  return LineAligned(2 * (shape_.taps_inside() + shape_.inside(0) * shape_.inside(1) + 1));
}
int64_t NhwcPool::LineFloats() const {
  return by_lines_ ? LineAligned(shape_.input[2] * shape_.channels) : 0;
}

size_t NhwcPool::Scratch(int threads) const {
  static_assert(sizeof(const float*) == 2 * sizeof(float));
  return static_cast<size_t>((PointerFloats() + LineFloats()) * threads) * sizeof(float);
}

void NhwcPool::Join(const float* const* x, int64_t count, int64_t channels, float divisor, float* y) const {
  if (kind_ == Kind::kMax)
    PoolNhwcSimd().max(x, count, channels, y);
  else
    PoolNhwcSimd().sum(x, count, channels, divisor, y);
}

// Stores pointers to the input rows that the windows of an output row read. Returns their number.
int64_t NhwcPool::Rows(const float* x, int64_t index, const float** rows) const {
  const ConvShape& s = shape_;
  const int64_t line = index % s.output[1], plane = index / s.output[1] % s.output[0],
                image = index / (s.output[1] * s.output[0]);
  const int64_t back = plane * s.stride[0] - s.begin[0], top = line * s.stride[1] - s.begin[1];
  const Inside planes = InsideOf(back, s.dilation[0], s.input[0], s.kernel[0]),
               lines = InsideOf(top, s.dilation[1], s.input[1], s.kernel[1]);
  int64_t count = 0;
  for (int64_t kz = planes.first; kz < planes.last; ++kz)
    for (int64_t ky = lines.first; ky < lines.last; ++ky) {
      const int64_t z = back + kz * s.dilation[0], y = top + ky * s.dilation[1];
      rows[count++] = x + ((image * s.input[0] + z) * s.input[1] + y) * s.input[2] * s.channels;
    }
  return count;
}

void NhwcPool::RunLine(const float* x, int64_t index, const WorkerScratch& scratch, float* y,
                       int64_t pixel) const {
  const ConvShape& s = shape_;
  int64_t rows = Rows(x, index, scratch.pixels);
  const float** pixels = scratch.pixels + rows;
  if (scratch.line) {
    Join(scratch.pixels, rows, s.input[2] * s.channels, 1, scratch.line);
    scratch.pixels[0] = scratch.line;
    rows = 1, pixels = scratch.pixels + 1;
  }
  float lines = 1;  // the divisor along the first two axes
  if (kind_ == Kind::kAverage)
    lines = divisors_[0][static_cast<size_t>(index / s.output[1] % s.output[0])] *
            divisors_[1][static_cast<size_t>(index % s.output[1])];
  y += index * s.output[2] * pixel;
  for (int64_t i = 0; i < s.output[2]; ++i, y += pixel) {
    int64_t count = 0;
    const int64_t left = i * s.stride[2] - s.begin[2];
    const Inside taps = InsideOf(left, s.dilation[2], s.input[2], s.kernel[2]);
    for (int64_t kx = taps.first; kx < taps.last; ++kx)
      for (int64_t r = 0; r < rows; ++r)
        pixels[count++] = scratch.pixels[r] + (left + kx * s.dilation[2]) * s.channels;
    float divisor = 1;
    if (kind_ == Kind::kAverage) divisor = lines * divisors_[2][static_cast<size_t>(i)];
    Join(pixels, divisor > 0 ? count : 0, s.channels, divisor > 0 ? divisor : 1, y);
  }
}

void NhwcPool::Run(const float* x, float* y, void* scratch, const Workers& workers,
                   int64_t pixel_stride) const {
  const ConvShape& s = shape_;
  if (s.batch == 0 || s.output[2] == 0 || s.channels == 0) return;
  const int64_t work = std::max<int64_t>(1, s.output[2] * s.channels * s.taps_inside());
  const int64_t floats = PointerFloats() + LineFloats();
  workers.ParallelFor(s.batch * s.output[0] * s.output[1], std::max<int64_t>(1, kMinWorkPerThread / work),
                      [&](int64_t begin, int64_t end, int worker) {
                        float* thread_floats = static_cast<float*>(scratch) + worker * floats;
                        const WorkerScratch thread_scratch{
                            reinterpret_cast<const float**>(thread_floats),
                            by_lines_ ? thread_floats + PointerFloats() : nullptr};
                        for (int64_t i = begin; i < end; ++i)
                          RunLine(x, i, thread_scratch, y, pixel_stride ? pixel_stride : s.channels);
                      });
}

}  // namespace tern::cpu
