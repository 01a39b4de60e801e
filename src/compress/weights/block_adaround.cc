#include "compress/weights/block_adaround.h"

#include <algorithm>

#include "compress/row_search.h"

namespace tern::compress {
namespace {

// Returns the mean of xᵀx over rows x, with `damping` times the mean of its diagonal added to the diagonal.
std::vector<float> DampedMoments(const Hessian& hessian, double damping) {
  const int64_t n = hessian.inputs;
  const double rows = static_cast<double>(std::max<int64_t>(hessian.rows, 1));
  double mean = 0;
  for (int64_t i = 0; i < n; ++i)
    mean += hessian.sum[static_cast<size_t>(i * n + i)] / rows / static_cast<double>(n);
  std::vector<float> moments(hessian.sum.size());
  for (size_t i = 0; i < moments.size(); ++i) moments[i] = static_cast<float>(hessian.sum[i] / rows);
  for (int64_t i = 0; i < n; ++i)
    moments[static_cast<size_t>(i * n + i)] += static_cast<float>(damping * mean);
  return moments;
}

}  // namespace

BlockMatrix AdaRound(const std::vector<float>& w, int64_t outputs, const BlockFormat& format,
                     const Hessian& hessian, const Workers& workers, double damping) {
  BlockMatrix m = RoundToNearest(w, outputs, format, hessian.Diagonal().data(), workers);
  const std::vector<float> moments = DampedMoments(hessian, damping);
  workers.ParallelFor(outputs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const float* scales = m.scale.data() + o * m.blocks;
      RowSearch(
          w.data() + o * m.inputs, [&](size_t i) { return scales[m.block_of(static_cast<int64_t>(i))]; },
          moments.data(), m.inputs, format.low(), format.high(), m.q.data() + o * m.inputs)
          .Run();
    }
  });
  return m;
}

}  // namespace tern::compress
