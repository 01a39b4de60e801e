#include <algorithm>

#include "kernels/cpu/reduce/reduce.h"

namespace tern::cpu {
namespace {

constexpr int64_t kColumns = 256;

// Returns whether a is preferred to b. NaN is preferred to all numbers.
template <class T> bool Better(bool largest, T a, T b) {
  if (a != a || b != b) return a != a && b == b;
  return largest ? a > b : a < b;
}

template <class T>
void Columns(const AxisShape& s, bool largest, bool last, const T* x, int64_t* y, int64_t n) {
  T best[kColumns];
  std::copy(x, x + n, best);
  std::fill(y, y + n, int64_t{0});
  for (int64_t i = 1; i < s.length; ++i) {
    const T* row = x + i * s.inner;
    for (int64_t j = 0; j < n; ++j) {
      if (!(Better(largest, row[j], best[j]) || (last && !Better(largest, best[j], row[j])))) continue;
      best[j] = row[j];
      y[j] = i;
    }
  }
}

template <class T>
void Run(const AxisShape& s, bool largest, bool last, const void* x, int64_t* y, const Workers& workers) {
  const int64_t tiles = (s.inner + kColumns - 1) / kColumns,
                work = std::max<int64_t>(1, s.length * std::min(s.inner, kColumns));
  workers.ParallelFor(s.outer * tiles, std::max<int64_t>(1, 16384 / work), [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t o = t / tiles, j = t % tiles * kColumns;
      Columns(s, largest, last, static_cast<const T*>(x) + o * s.length * s.inner + j, y + o * s.inner + j,
              std::min(kColumns, s.inner - j));
    }
  });
}

}  // namespace

bool HasArgReduce(DType type) {
  switch (type) {
    case DType::kF32:
    case DType::kF64:
    case DType::kI32:
    case DType::kI64:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return true;
    default:
      return false;
  }
}

void ArgReduce(DType type, const AxisShape& shape, bool largest, bool last, const void* x, int64_t* y,
               const Workers& workers) {
  switch (type) {
    case DType::kF32:
      return Run<float>(shape, largest, last, x, y, workers);
    case DType::kF64:
      return Run<double>(shape, largest, last, x, y, workers);
    case DType::kI32:
      return Run<int32_t>(shape, largest, last, x, y, workers);
    case DType::kI64:
      return Run<int64_t>(shape, largest, last, x, y, workers);
    case DType::kI8:
      return Run<int8_t>(shape, largest, last, x, y, workers);
    default:
      return Run<uint8_t>(shape, largest, last, x, y, workers);
  }
}

}  // namespace tern::cpu
