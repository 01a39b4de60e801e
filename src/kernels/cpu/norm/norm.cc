#include "kernels/cpu/norm/norm.h"

#include <algorithm>
#include <cmath>

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 8192;

int64_t GrainOf(int64_t work) { return std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)); }

}  // namespace

void ChannelAffineF32(const float* x, const float* factor, const float* shift, float* y, int64_t batch,
                      int64_t channels, int64_t plane, const Workers& workers) {
  workers.ParallelFor(batch * channels, GrainOf(plane), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      NormSimd().affine(x + i * plane, 0.f, factor[i % channels], shift[i % channels], y + i * plane, plane);
  });
}

void ScaleF32(const float* x, const float* factor, const float* shift, float* y, int64_t outer,
              int64_t channels, int64_t inner, const Workers& workers) {
  if (inner == 1) {
    workers.ParallelFor(outer, GrainOf(channels), [&](int64_t begin, int64_t end) {
      NormSimd().columns(x + begin * channels, factor, shift, y + begin * channels, end - begin, channels);
    });
    return;
  }
  workers.ParallelFor(outer * channels, GrainOf(inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      NormSimd().affine(x + i * inner, 0.f, factor[i % channels], shift ? shift[i % channels] : 0.f,
                        y + i * inner, inner);
  });
}

void FoldStatisticsF32(const float* scale, const float* bias, const float* mean, const float* variance,
                       float epsilon, float* factor, float* shift, int64_t channels) {
  for (int64_t i = 0; i < channels; ++i) {
    factor[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    shift[i] = bias[i] - mean[i] * factor[i];
  }
}

void GroupNormF32(const float* x, const float* scale, const float* bias, float* y, int64_t batch,
                  int64_t channels, int64_t plane, int64_t groups, float epsilon, const Workers& workers) {
  const int64_t members = channels / groups, run = members * plane;
  workers.ParallelFor(batch * groups, GrainOf(run), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const Moments s = NormSimd().moments(x + g * run, run);
      const float inv_std = 1.f / std::sqrt(s.variance + epsilon);
      for (int64_t m = 0; m < members; ++m) {
        const int64_t channel = g % groups * members + m, at = g * run + m * plane;
        NormSimd().affine(x + at, s.mean, inv_std * scale[channel], bias[channel], y + at, plane);
      }
    }
  });
}

void LayerNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers) {
  workers.ParallelFor(p.rows, GrainOf(p.n),
                      [&](int64_t begin, int64_t end) { NormSimd().layer(p, x, y, begin, end); });
}

void RmsNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers) {
  workers.ParallelFor(p.rows, GrainOf(p.n),
                      [&](int64_t begin, int64_t end) { NormSimd().rms(p, x, y, begin, end); });
}

}  // namespace tern::cpu
