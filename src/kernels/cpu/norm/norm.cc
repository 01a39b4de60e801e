#include "kernels/cpu/norm/norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/reduce/rows_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 8192;

int64_t GrainOf(int64_t work) { return std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)); }

struct Statistics {
  float mean, inv_std;
};

Statistics StatisticsOf(const float* x, int64_t n, float epsilon) {
  const float mean = RowSimd().reduce(RowSum::kSum, x, n) / static_cast<float>(n);
  const float variance = RowSimd().spread(x, mean, n) / static_cast<float>(n);
  return {mean, 1.f / std::sqrt(variance + epsilon)};
}

}  // namespace

void ChannelAffineF32(const float* x, const float* factor, const float* shift, float* y, int64_t batch,
                      int64_t channels, int64_t plane, const Workers& workers) {
  workers.ParallelFor(batch * channels, GrainOf(plane), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      RowSimd().affine(x + i * plane, factor[i % channels], shift[i % channels], y + i * plane, plane);
  });
}

void ScaleF32(const float* x, const float* factor, const float* shift, float* y, int64_t outer,
              int64_t channels, int64_t inner, const Workers& workers) {
  if (inner == 1) {
    workers.ParallelFor(outer, GrainOf(channels), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        RowSimd().normalize(x + i * channels, 0.f, 1.f, factor, shift, y + i * channels, channels);
    });
    return;
  }
  workers.ParallelFor(outer * channels, GrainOf(inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      RowSimd().affine(x + i * inner, factor[i % channels], shift ? shift[i % channels] : 0.f, y + i * inner,
                       inner);
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
      const Statistics s = StatisticsOf(x + g * run, run, epsilon);
      for (int64_t m = 0; m < members; ++m) {
        const int64_t channel = g % groups * members + m, at = g * run + m * plane;
        RowSimd().normalize(x + at, s.mean, s.inv_std, nullptr, nullptr, y + at, plane);
        RowSimd().affine(y + at, scale[channel], bias[channel], y + at, plane);
      }
    }
  });
}

void LayerNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers) {
  workers.ParallelFor(p.rows, GrainOf(p.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Statistics s = StatisticsOf(x + i * p.n, p.n, p.epsilon);
      if (p.mean) p.mean[i] = s.mean;
      if (p.inv_std) p.inv_std[i] = s.inv_std;
      RowSimd().normalize(x + i * p.n, s.mean, s.inv_std, p.scale, p.bias, y + i * p.n, p.n);
    }
  });
}

void RmsNormF32(const LayerNormParams& p, const float* x, float* y, const Workers& workers) {
  workers.ParallelFor(p.rows, GrainOf(p.n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float squares = RowSimd().reduce(RowSum::kSquare, x + i * p.n, p.n);
      const float factor = 1.f / std::sqrt(squares / static_cast<float>(p.n) + p.epsilon);
      RowSimd().normalize(x + i * p.n, 0.f, factor, p.scale, nullptr, y + i * p.n, p.n);
    }
  });
}

}  // namespace tern::cpu
