#include "kernels/cpu/ml/normalize.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tern::cpu {
namespace {

template <class T> double NumberOf(T v) {
  if constexpr (std::is_integral_v<T>) return static_cast<double>(static_cast<float>(v));
  return static_cast<double>(v);
}

// Uses four accumulators to hide the latency of additions.
template <class T, class F> double SumOf(const T* row, int64_t width, const F& f) {
  double sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= width; i += 4)
    for (int k = 0; k < 4; ++k) sums[k] += f(NumberOf(row[i + k]));
  for (; i < width; ++i) sums[0] += f(NumberOf(row[i]));
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Returns NaN if an element is NaN.
template <class T> double LargestOf(const T* row, int64_t width) {
  double largest = NumberOf(row[0]);
  for (int64_t i = 1; i < width; ++i) {
    const double v = NumberOf(row[i]);
    largest = std::isnan(v) ? v : std::max(largest, v);
  }
  return largest;
}

template <class T> double NormOf(RowNorm kind, const T* row, int64_t width) {
  if (kind == RowNorm::kMax) return LargestOf(row, width);
  if (kind == RowNorm::kL1) return SumOf(row, width, [](double v) { return std::fabs(v); });
  return std::sqrt(SumOf(row, width, [](double v) { return v * v; }));
}

}  // namespace

template <class T>
void NormalizeRows(RowNorm kind, int64_t rows, int64_t width, const T* x, float* y, const Workers& workers) {
  if (width == 0) return;
  workers.ParallelFor(rows, std::max<int64_t>(1, 16384 / width), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* from = x + r * width;
      float* to = y + r * width;
      const double norm = NormOf(kind, from, width), divisor = norm == 0 ? 1 : norm;
      for (int64_t i = 0; i < width; ++i) to[i] = static_cast<float>(NumberOf(from[i]) / divisor);
    }
  });
}

template void NormalizeRows(RowNorm, int64_t, int64_t, const float*, float*, const Workers&);
template void NormalizeRows(RowNorm, int64_t, int64_t, const double*, float*, const Workers&);
template void NormalizeRows(RowNorm, int64_t, int64_t, const int32_t*, float*, const Workers&);
template void NormalizeRows(RowNorm, int64_t, int64_t, const int64_t*, float*, const Workers&);

}  // namespace tern::cpu
