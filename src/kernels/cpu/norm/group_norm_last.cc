#include "kernels/cpu/norm/group_norm_last.h"

#include <algorithm>
#include <cmath>

namespace tern::cpu {
namespace {

constexpr int64_t kBlock = 64;  // pixels that are summed in f32 before the sum is added to a double

// `width` consecutive channels of one sample. `stride` is the stride between pixels.
struct Columns {
  const float* x;
  int64_t pixels, stride, width;
};

// Sets sums[c] to the sum over pixels of term(x, c). `part` is scratch memory for `width` floats.
template <class F> void SumColumns(const Columns& in, double* sums, float* part, const F& term) {
  std::fill_n(sums, in.width, 0.0);
  for (int64_t begin = 0; begin < in.pixels; begin += kBlock) {
    std::fill_n(part, in.width, 0.f);
    const int64_t end = std::min(in.pixels, begin + kBlock);
    for (int64_t p = begin; p < end; ++p) {
      const float* row = in.x + p * in.stride;
      for (int64_t c = 0; c < in.width; ++c) part[c] += term(row[c], c);
    }
    for (int64_t c = 0; c < in.width; ++c) sums[c] += static_cast<double>(part[c]);
  }
}

// Writes the mean of each group, repeated for each of its channels.
void SpreadMeans(const double* sums, int64_t width, int64_t members, int64_t pixels, float* means) {
  for (int64_t c = 0; c < width; c += members) {
    double sum = 0;
    for (int64_t m = 0; m < members; ++m) sum += sums[c + m];
    std::fill_n(means + c, members,
                static_cast<float>(sum / (static_cast<double>(members) * static_cast<double>(pixels))));
  }
}

}  // namespace

size_t GroupNormLast::Scratch() const {
  return static_cast<size_t>(batch * channels) * (sizeof(double) + 3 * sizeof(float));
}

void GroupNormLast::Run(const float* x, const float* scale, const float* bias, float* y, void* scratch,
                        const Workers& workers) const {
  const int64_t members = channels / groups, total = batch * channels;
  auto* sums = static_cast<double*>(scratch);
  auto *part = reinterpret_cast<float*>(sums + total), *means = part + total, *factors = means + total;
  const int64_t grain =
      std::max<int64_t>(1, std::max<int64_t>(16, 8192 / std::max<int64_t>(1, pixels)) / members);
  workers.ParallelFor(batch * groups, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t sample = begin / groups, last = std::min(end, (sample + 1) * groups);
      const int64_t at = begin * members, first = at - sample * channels, width = (last - begin) * members;
      const Columns in{x + sample * pixels * channels + first, pixels, channels, width};
      float *mean = means + at, *factor = factors + at;
      SumColumns(in, sums + at, part + at, [](float v, int64_t) { return v; });
      SpreadMeans(sums + at, width, members, pixels, mean);
      SumColumns(in, sums + at, part + at, [&](float v, int64_t c) { return (v - mean[c]) * (v - mean[c]); });
      SpreadMeans(sums + at, width, members, pixels, factor);
      for (int64_t c = 0; c < width; ++c) factor[c] = scale[first + c] / std::sqrt(factor[c] + epsilon);
      float* out = y + (in.x - x);
      for (int64_t p = 0; p < pixels; ++p)
        for (int64_t c = 0; c < width; ++c)
          out[p * channels + c] = (in.x[p * channels + c] - mean[c]) * factor[c] + bias[first + c];
      begin = last;
    }
  });
}

}  // namespace tern::cpu
