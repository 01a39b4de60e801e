#include "kernels/cpu/reduce/softmax.h"

#include <algorithm>

#include "kernels/cpu/move/transpose_simd.h"
#include "kernels/cpu/reduce/softmax_simd.h"

namespace tern::cpu {
namespace {

constexpr int64_t kWork = 8192;   // minimum elements per thread
constexpr int64_t kColumns = 64;  // columns of a job, if the axis is not the last one
constexpr int64_t kShort = 8;     // rows of up to this many elements are computed by ShortRows

// Computes short rows, which would leave most of a vector empty. Transposes them, so that each row uses one
// lane.
void ShortRows(const float* x, float* y, int64_t rows, int64_t length, bool log) {
  float transposed[kShort * kColumns];
  for (int64_t i = 0; i < rows; i += kColumns) {
    const int64_t row_count = std::min(kColumns, rows - i);
    TransposeSimd().x32(x + i * length, length, row_count, length, transposed, row_count);
    SoftmaxSimd().columns(transposed, transposed, length, row_count, row_count, log);
    TransposeSimd().x32(transposed, row_count, length, row_count, y + i * length, length);
  }
}

}  // namespace

void SoftmaxF32(const AxisShape& s, bool log, const float* x, float* y, const Workers& workers) {
  if (s.inner == 1) {
    const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, s.length));
    workers.ParallelFor(s.outer, grain, [&](int64_t begin, int64_t end) {
      const auto rows = s.length <= kShort ? ShortRows : SoftmaxSimd().rows;
      rows(x + begin * s.length, y + begin * s.length, end - begin, s.length, log);
    });
    return;
  }
  const int64_t tiles = (s.inner + kColumns - 1) / kColumns;
  const int64_t grain =
      std::max<int64_t>(1, kWork / std::max<int64_t>(1, s.length * std::min(s.inner, kColumns)));
  workers.ParallelFor(s.outer * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t at = t / tiles * s.length * s.inner + t % tiles * kColumns;
      SoftmaxSimd().columns(x + at, y + at, s.length, s.inner,
                            std::min(kColumns, s.inner - t % tiles * kColumns), log);
    }
  });
}

}  // namespace tern::cpu
