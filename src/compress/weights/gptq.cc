#include "compress/weights/gptq.h"

#include <algorithm>

namespace tern::compress {
namespace {

constexpr int64_t kRowsAtOnce = 8;  // outputs that share a row of the factor while it is in the cache

// Rounds input i of output o, and spreads the error to the inputs after i.
void RoundOne(float* w, int64_t i, const float* factor_row, int64_t inputs, const BlockFormat& format,
              float scale, int8_t& q) {
  q = Nearest(w[i], scale, format);
  const float error = (w[i] - static_cast<float>(q) * scale) / factor_row[i];
  for (int64_t j = i + 1; j < inputs; ++j) w[j] -= error * factor_row[j];
}

}  // namespace

BlockMatrix Gptq(std::vector<float> w, int64_t outputs, const BlockFormat& format, const Hessian& hessian,
                 const Workers& workers, double damping) {
  BlockMatrix m(outputs, hessian.inputs, format);
  const std::vector<float> factor = InverseFactor(hessian, damping, workers), importance = hessian.Diagonal();
  workers.ParallelFor((outputs + kRowsAtOnce - 1) / kRowsAtOnce, 1, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group)
      for (int64_t i = 0; i < m.inputs; ++i)
        for (int64_t o = group * kRowsAtOnce; o < std::min((group + 1) * kRowsAtOnce, outputs); ++o) {
          float* row = w.data() + o * m.inputs;
          float& scale = m.scale[static_cast<size_t>(o * m.blocks + m.block_of(i))];
          if (i % m.block == 0)
            scale = BlockScale(row + i, std::min(m.block, m.inputs - i), format, importance.data() + i);
          RoundOne(row, i, factor.data() + i * m.inputs, m.inputs, format, scale,
                   m.q[static_cast<size_t>(o * m.inputs + i)]);
        }
  });
  return m;
}

}  // namespace tern::compress
