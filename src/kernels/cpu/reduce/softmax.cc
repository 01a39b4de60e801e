#include "kernels/cpu/reduce/softmax.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/elementwise/elementwise_simd.h"
#include "kernels/cpu/reduce/rows_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 8192;    // elements that are worth a thread
constexpr int64_t kColumns = 256;  // handled side by side

void LogSoftmaxRow(const float* x, float* y, int64_t n) {
  const float top = RowSimd().reduce(RowSum::kMax, x, n);
  // The largest being infinite leaves nothing that is a number.
  const float sum = std::isfinite(top) ? RowSimd().exp_sum_only(x, top, n) : NAN, log_sum = std::log(sum);
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] - top - log_sum;
}

// Columns [begin, end) of one outer slice: [length, inner].
void SoftmaxColumns(const AxisShape& s, bool log, const float* x, float* y, int64_t n) {
  const RowTable& rows = RowSimd();
  float top[kColumns], sum[kColumns], line[kColumns];
  std::fill(top, top + n, -HUGE_VALF);
  std::fill(sum, sum + n, 0.f);
  for (int64_t i = 0; i < s.length; ++i) rows.join(RowSum::kMax, x + i * s.inner, top, n);
  for (int64_t i = 0; i < s.length; ++i) {
    for (int64_t j = 0; j < n; ++j) line[j] = x[i * s.inner + j] - top[j];
    UnarySimd().f32(UnaryKind::kExp, line, line, n, 0, 0);
    rows.join(RowSum::kSum, line, sum, n);
    if (!log)
      std::copy(line, line + n, y + i * s.inner);
    else
      for (int64_t j = 0; j < n; ++j) y[i * s.inner + j] = x[i * s.inner + j] - top[j];
  }
  if (log) UnarySimd().f32(UnaryKind::kLog, sum, sum, n, 0, 0);
  for (int64_t i = 0; i < s.length; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float& to = y[i * s.inner + j];
      to = log ? to - sum[j] : to / sum[j];
    }
}

}  // namespace

void SoftmaxRow(const float* x, float* y, int64_t n) {
  const RowTable& rows = RowSimd();
  const float top = rows.reduce(RowSum::kMax, x, n);
  const float sum = rows.exp_sum(x, top, y, n);
  rows.affine(y, 1.f / sum, 0.f, y, n);
}

void SoftmaxF32(const AxisShape& s, bool log, const float* x, float* y, const Workers& workers) {
  if (s.inner == 1) {
    const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, s.length));
    workers.ParallelFor(s.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        (log ? LogSoftmaxRow : SoftmaxRow)(x + i * s.length, y + i * s.length, s.length);
    });
    return;
  }
  const int64_t tiles = (s.inner + kColumns - 1) / kColumns;
  const int64_t grain =
      std::max<int64_t>(1, kWork / std::max<int64_t>(1, s.length * std::min(s.inner, kColumns)));
  workers.ParallelFor(s.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t at = t / tiles * s.length * s.inner + t % tiles * kColumns;
      SoftmaxColumns(s, log, x + at, y + at, std::min(kColumns, s.inner - t % tiles * kColumns));
    }
  });
}

}  // namespace tern::cpu
