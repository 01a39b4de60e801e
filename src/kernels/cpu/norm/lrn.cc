#include "kernels/cpu/norm/lrn.h"

#include <algorithm>
#include <cmath>

namespace tern::cpu {
namespace {

constexpr int64_t kTile = 256;  // elements per tile

// Computes v ^ -beta. There is a fast path for beta = 0.75, the value that networks use.
void Powers(float* v, int64_t n, float beta) {
  if (beta == 0.75f) {
    for (int64_t i = 0; i < n; ++i) {
      const float root = std::sqrt(v[i]);
      v[i] = 1.f / (root * std::sqrt(root));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i) v[i] = std::pow(v[i], -beta);
}

// Computes n elements of one channel that start at `begin`, for inner > 1. The elements are contiguous.
void AlongInner(const Lrn& op, const float* sample, int64_t channel, int64_t begin, int64_t n, float* y) {
  float sums[kTile] = {};
  const int64_t first = std::max<int64_t>(0, channel - op.before);
  const int64_t last = op.after >= op.channels - channel ? op.channels - 1 : channel + op.after;
  for (int64_t c = first; c <= last; ++c) {
    const float* x = sample + c * op.inner + begin;
    for (int64_t i = 0; i < n; ++i) sums[i] += x[i] * x[i];
  }
  for (int64_t i = 0; i < n; ++i) sums[i] = op.bias + op.factor * sums[i];
  Powers(sums, n, op.beta);
  const float* x = sample + channel * op.inner + begin;
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * sums[i];
}

// Computes n channels of one pixel that start at `begin`, for inner == 1. The channels are contiguous.
void AcrossChannels(const Lrn& op, const float* pixel, int64_t begin, int64_t n, float* y) {
  float sums[kTile] = {};
  const int64_t low = std::max(-op.before, -(begin + n - 1)),
                high = std::min(op.after, op.channels - 1 - begin);
  for (int64_t offset = low; offset <= high; ++offset) {
    const int64_t from = std::max<int64_t>(0, -(begin + offset)),
                  to = std::min(n, op.channels - begin - offset);
    const float* x = pixel + begin + offset;
    for (int64_t i = from; i < to; ++i) sums[i] += x[i] * x[i];
  }
  for (int64_t i = 0; i < n; ++i) sums[i] = op.bias + op.factor * sums[i];
  Powers(sums, n, op.beta);
  for (int64_t i = 0; i < n; ++i) y[i] = pixel[begin + i] * sums[i];
}

}  // namespace

void Lrn::Run(const float* x, float* y, const Workers& workers) const {
  const int64_t length = inner == 1 ? channels : inner, rows = inner == 1 ? outer : outer * channels;
  if (length == 0) return;
  const int64_t grain = std::max<int64_t>(1, 4096 / length);
  workers.ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      for (int64_t at = 0; at < length; at += kTile) {
        const int64_t n = std::min(kTile, length - at);
        if (inner == 1)
          AcrossChannels(*this, x + row * channels, at, n, y + row * channels + at);
        else
          AlongInner(*this, x + row / channels * channels * inner, row % channels, at, n,
                     y + row * inner + at);
      }
  });
}

}  // namespace tern::cpu
