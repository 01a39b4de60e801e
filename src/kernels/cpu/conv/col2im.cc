#include "kernels/cpu/conv/col2im.h"

#include <algorithm>

#include "kernels/cpu/elementwise/elementwise_simd.h"

namespace tern::cpu {
namespace {

// A shorter row is added by a plain loop, because a call costs more.
constexpr int64_t kShortRow = 16;

void AddRow(const float* x, float* y, int64_t stride, int64_t n) {
  if (stride == 1 && n >= kShortRow) {
    AddSimd().run(DType::kF32, y, x, y, n);
    return;
  }
  for (int64_t i = 0; i < n; ++i) y[i * stride] += x[i];
}

}  // namespace

void AddColumns(const ConvShape& s, int64_t tap0, int64_t tap1, const float* columns, float* y) {
  if (s.input_size() == 0) return;  // without positions, there may be any number of taps
  for (int64_t tap = tap0; tap < tap1; ++tap, columns += s.input_size()) {
    const Spatial t{tap / (s.kernel[1] * s.kernel[2]), tap / s.kernel[2] % s.kernel[1], tap % s.kernel[2]};
    Spatial shift;
    for (size_t i = 0; i < 3; ++i) shift[i] = t[i] * s.dilation[i] - s.begin[i];
    const Inside inside = InsideOf(shift[2], s.stride[2], s.output[2], s.input[2]);
    if (inside.last <= inside.first) continue;
    for (int64_t row = 0; row < s.input[0] * s.input[1]; ++row) {
      const int64_t z = row / s.input[1] * s.stride[0] + shift[0],
                    line = row % s.input[1] * s.stride[1] + shift[1];
      if (z < 0 || z >= s.output[0] || line < 0 || line >= s.output[1]) continue;
      AddRow(columns + row * s.input[2] + inside.first,
             y + (z * s.output[1] + line) * s.output[2] + shift[2] + inside.first * s.stride[2], s.stride[2],
             inside.last - inside.first);
    }
  }
}

void Col2ImF32(const ConvShape& s, const float* x, float* y, const Workers& workers) {
  const int64_t columns = s.taps() * s.input_size(), size = s.output_size();
  workers.ParallelFor(s.batch * s.channels,
                      std::max<int64_t>(1, 32768 / std::max<int64_t>(1, columns + size)),
                      [&](int64_t begin, int64_t end) {
                        for (int64_t i = begin; i < end; ++i) {
                          std::fill(y + i * size, y + (i + 1) * size, 0.f);
                          AddColumns(s, 0, s.taps(), x + i * columns, y + i * size);
                        }
                      });
}

}  // namespace tern::cpu
