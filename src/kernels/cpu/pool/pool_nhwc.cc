#include "kernels/cpu/pool/pool_nhwc.h"

#include <algorithm>

#include "kernels/cpu/pool/pool_nhwc_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWorthAThread = 1 << 15;  // elements read

int64_t Rounded(int64_t floats) { return (floats + 15) / 16 * 16; }

}  // namespace

NhwcPool::NhwcPool(Kind kind, const ConvShape& shape, PoolDivisors divisors)
    : kind_(kind), shape_(shape), divisors_(std::move(divisors)) {
  // Elements read and written per output pixel, both ways.
  const int64_t rows = shape.kernel[0] * shape.kernel[1], columns = shape.kernel[2];
  by_lines_ = rows * columns > (rows + 1) * shape.stride[2] + columns;
}

// Rows of an output row and pixels of a window.
int64_t NhwcPool::PointerFloats() const {
  return Rounded(2 * (shape_.taps() + shape_.kernel[0] * shape_.kernel[1] + 1));
}
int64_t NhwcPool::LineFloats() const { return by_lines_ ? Rounded(shape_.input[2] * shape_.channels) : 0; }

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

// The input rows that the windows of an output row see; how many.
int64_t NhwcPool::Rows(const float* x, int64_t index, const float** rows) const {
  const ConvShape& s = shape_;
  const int64_t line = index % s.output[1], plane = index / s.output[1] % s.output[0],
                image = index / (s.output[1] * s.output[0]);
  int64_t count = 0;
  for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
    for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
      const int64_t z = plane * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                    y = line * s.stride[1] + ky * s.dilation[1] - s.begin[1];
      if (z < 0 || z >= s.input[0] || y < 0 || y >= s.input[1]) continue;
      rows[count++] = x + ((image * s.input[0] + z) * s.input[1] + y) * s.input[2] * s.channels;
    }
  return count;
}

void NhwcPool::RunLine(const float* x, int64_t index, const Place& place, float* y) const {
  const ConvShape& s = shape_;
  int64_t rows = Rows(x, index, place.pixels);
  const float** pixels = place.pixels + rows;
  if (place.line) {
    Join(place.pixels, rows, s.input[2] * s.channels, 1, place.line);
    place.pixels[0] = place.line;
    rows = 1, pixels = place.pixels + 1;
  }
  float lines = 1;  // of a window that count
  if (kind_ == Kind::kAverage)
    lines = divisors_[0][static_cast<size_t>(index / s.output[1] % s.output[0])] *
            divisors_[1][static_cast<size_t>(index % s.output[1])];
  y += index * s.output[2] * s.channels;
  for (int64_t i = 0; i < s.output[2]; ++i, y += s.channels) {
    int64_t count = 0;
    for (int64_t kx = 0; kx < s.kernel[2]; ++kx) {
      const int64_t at = i * s.stride[2] + kx * s.dilation[2] - s.begin[2];
      if (at < 0 || at >= s.input[2]) continue;
      for (int64_t r = 0; r < rows; ++r) pixels[count++] = place.pixels[r] + at * s.channels;
    }
    float divisor = 1;
    if (kind_ == Kind::kAverage) divisor = lines * divisors_[2][static_cast<size_t>(i)];
    Join(pixels, divisor > 0 ? count : 0, s.channels, divisor > 0 ? divisor : 1, y);
  }
}

void NhwcPool::Run(const float* x, float* y, void* scratch, const Workers& workers) const {
  const ConvShape& s = shape_;
  if (s.output[2] * s.channels == 0) return;
  const int64_t work = std::max<int64_t>(1, s.output[2] * s.channels * s.taps());
  const int64_t floats = PointerFloats() + LineFloats();
  workers.ParallelFor(s.batch * s.output[0] * s.output[1], std::max<int64_t>(1, kWorthAThread / work),
                      [&](int64_t begin, int64_t end, int worker) {
                        float* mine = static_cast<float*>(scratch) + worker * floats;
                        const Place place{reinterpret_cast<const float**>(mine),
                                          by_lines_ ? mine + PointerFloats() : nullptr};
                        for (int64_t i = begin; i < end; ++i) RunLine(x, i, place, y);
                      });
}

}  // namespace tern::cpu
