#include "compress/weights/block_matrix.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"

namespace tern::compress {
namespace {

// Scales that the search tries, relative to the scale that maps the largest magnitude to the largest integer.
constexpr float kCandidates[] = {1.0f,  0.875f, 0.97f, 0.94f, 0.91f, 0.88f, 0.85f,
                                 0.82f, 0.79f,  0.76f, 0.73f, 0.7f,  0.66f, 0.62f};

float InHalf(float v) { return HalfToFloat(static_cast<uint16_t>(EncodeFloat(DType::kF16, v))); }

// Rounds |v| < 2^22 to the nearest integer, ties to even. Compilers vectorize loops over it.
float RoundedOf(float v) {
  constexpr float kMagic = 12582912;
  return (v + kMagic) - kMagic;
}

// Returns the squared error of rounding with this scale, weighted by `importance` if it is not null.
float ErrorOf(const float* w, int64_t count, float scale, const BlockFormat& format,
              const float* importance) {
  const float inverse = 1 / scale, low = static_cast<float>(format.low()),
              high = static_cast<float>(format.high());
  float error[8] = {};
  for (int64_t i = 0; i < count; ++i) {
    const float q = RoundedOf(std::min(std::max(w[i] * inverse, low), high)), e = q * scale - w[i];
    error[i % 8] += e * e * (importance ? importance[i] : 1.0f);
  }
  float sum = 0;
  for (float e : error) sum += e;
  return sum;
}

}  // namespace

BlockMatrix::BlockMatrix(int64_t outputs_of, int64_t inputs_of, const BlockFormat& format)
    : outputs(outputs_of),
      inputs(inputs_of),
      block(format.block ? format.block : std::max<int64_t>(inputs_of, 1)),
      blocks((inputs_of + block - 1) / block),
      q(static_cast<size_t>(outputs * inputs)),
      scale(static_cast<size_t>(outputs * blocks)) {}

float BlockMatrix::At(int64_t output, int64_t input) const {
  return static_cast<float>(q[static_cast<size_t>(output * inputs + input)]) *
         scale[static_cast<size_t>(output * blocks + block_of(input))];
}

float BlockScale(const float* w, int64_t count, const BlockFormat& format, const float* importance) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(w[i]));
  // The smallest subnormal number of f16, so that no scale is 0.
  constexpr float kSmallest = 6e-8f;
  const float full = std::max(largest / static_cast<float>(format.high()), kSmallest);
  if (!format.search) return InHalf(full);
  float best = InHalf(full), least = INFINITY;
  for (const float candidate : kCandidates) {
    const float scale = InHalf(std::max(full * candidate, kSmallest));
    const float error = ErrorOf(w, count, scale, format, importance);
    if (error < least) best = scale, least = error;
  }
  return best;
}

int8_t Nearest(float w, float scale, const BlockFormat& format) {
  const float v = std::clamp(w / scale, static_cast<float>(format.low()), static_cast<float>(format.high()));
  return static_cast<int8_t>(RoundedOf(v));
}

BlockMatrix RoundToNearest(const std::vector<float>& w, int64_t outputs, const BlockFormat& format,
                           const float* importance, const Workers& workers) {
  BlockMatrix m(outputs, outputs ? static_cast<int64_t>(w.size()) / outputs : 0, format);
  workers.ParallelFor(outputs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o)
      for (int64_t b = 0; b < m.blocks; ++b) {
        const int64_t first = b * m.block, count = std::min(m.block, m.inputs - first);
        const float* from = w.data() + o * m.inputs + first;
        const float scale = BlockScale(from, count, format, importance ? importance + first : nullptr);
        m.scale[static_cast<size_t>(o * m.blocks + b)] = scale;
        for (int64_t i = 0; i < count; ++i)
          m.q[static_cast<size_t>(o * m.inputs + first + i)] = Nearest(from[i], scale, format);
      }
  });
  return m;
}

}  // namespace tern::compress
