#include <algorithm>

#include "kernels/cpu/conv/conv.h"
#include "kernels/cpu/conv/depthwise_simd.h"

namespace tern::cpu {
namespace {

struct Row {
  const float* x;  // the input row
  const float* w;  // the kernel row
  float* y;
};

// Adds the products of one kernel row to one output row. Uses SIMD for the outputs whose taps are all inside
// the image, and a scalar loop for the outputs at both ends.
void ConvolveRow(const ConvShape& s, const Row& r, const DepthwiseTable& simd) {
  const int64_t taps = s.kernel[2], stride = s.stride[2], dilation = s.dilation[2], start = -s.begin[2];
  const Inside left = InsideOf(start, stride, s.input[2], s.output[2]);
  const Inside right = InsideOf(start + (taps - 1) * dilation, stride, s.input[2], s.output[2]);
  const int64_t first = std::max(left.first, right.first), last = std::min(left.last, right.last);
  const auto edge = [&](int64_t from, int64_t to) {
    for (int64_t o = from; o < to; ++o)
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t at = o * stride + start + t * dilation;
        if (at >= 0 && at < s.input[2]) r.y[o] += r.w[t] * r.x[at];
      }
  };
  if (first >= last) return edge(0, s.output[2]);
  edge(0, first);
  simd.add_row(r.x + first * stride + start, stride, r.w, taps, dilation, r.y + first, last - first);
  edge(last, s.output[2]);
}

// Adds the products of all kernel rows to output row o at depth z.
void ConvolveRows(const ConvShape& s, const float* x, const float* w, int64_t z, int64_t o, float* y) {
  const DepthwiseTable& simd = DepthwiseSimd();
  for (int64_t kz = 0; kz < s.kernel[0]; ++kz)
    for (int64_t ky = 0; ky < s.kernel[1]; ++ky) {
      const int64_t iz = z * s.stride[0] + kz * s.dilation[0] - s.begin[0],
                    iy = o * s.stride[1] + ky * s.dilation[1] - s.begin[1];
      if (iz < 0 || iz >= s.input[0] || iy < 0 || iy >= s.input[1]) continue;
      ConvolveRow(s, {x + (iz * s.input[1] + iy) * s.input[2], w + (kz * s.kernel[1] + ky) * s.kernel[2], y},
                  simd);
    }
}

// Computes the plane that starts at element `first` of y, and applies the epilogue to it.
void ConvolvePlane(const ConvShape& s, const float* x, const float* w, float bias, int64_t first, float* y,
                   EpilogueRun& run) {
  const int64_t width = s.output[2];
  for (int64_t row = 0; row < s.output[0] * s.output[1]; ++row) {
    float* to = y + first + row * width;
    std::fill(to, to + width, bias);
    ConvolveRows(s, x, w, row / s.output[1], row % s.output[1], to);
    run.Reach(first + (row + 1) * width);
  }
}

}  // namespace

void DepthwiseF32(const ConvShape& s, const float* x, const float* w, const float* bias,
                  const Epilogue* epilogue, float* y, const Workers& workers) {
  const int64_t size = s.output_size(), work = std::max<int64_t>(1, size * s.taps());
  workers.ParallelFor(s.batch * s.maps, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
    EpilogueRun run(epilogue, y, begin * size);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t map = i % s.maps, channel = i / s.maps * s.channels + map / s.group_maps();
      ConvolvePlane(s, x + channel * s.input_size(), w + map * s.taps(), bias ? bias[map] : 0.f, i * size, y,
                    run);
    }
    run.Finish(end * size);
  });
}

}  // namespace tern::cpu
