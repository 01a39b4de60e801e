#include "kernels/cpu/reduce/softmax_simd.h"

#include "kernels/cpu/reduce/exponential-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kWide = kLanes<float>;

// Computes y[i] = f(x[i], count) by vectors. `count` is the number of valid lanes.
template <class F> inline void Map(const float* x, float* y, int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) StoreVector(y + i, f(LoadVector(x + i), kWide));
  if (i < n) StorePart(y + i, f(LoadPart(x + i, n - i), n - i), n - i);
}

float Largest(const float* x, int64_t n) {
  Floats a = All(-kInfinity), b = a;
  int64_t i = 0;
  for (; i + 2 * kWide <= n; i += 2 * kWide) {
    a = Larger(LoadVector(x + i), a);
    b = Larger(LoadVector(x + i + kWide), b);
  }
  if (i + kWide <= n) {
    a = Larger(LoadVector(x + i), a);
    i += kWide;
  }
  if (i < n) b = Larger(Keep(LoadPart(x + i, n - i), n - i, All(-kInfinity)), b);
  return MaxAcross(Larger(a, b));
}

// If the maximum is infinite or an element is NaN, the sum is NaN and so is the row.
inline void SoftmaxRow(const float* x, float* y, int64_t n) {
  const float top = Largest(x, n);
  Floats sum{};
  Map(x, y, n, [&](Floats v, int64_t count) {
    const Floats e = ExpOrZero(v - top);
    sum += count == kWide ? e : Keep(e, count);
    return e;
  });
  const float factor = 1.f / SumAcross(sum);
  Map(y, y, n, [&](Floats v, int64_t) { return v * factor; });
}

inline void LogSoftmaxRow(const float* x, float* y, int64_t n) {
  const float top = Largest(x, n);
  Floats sum{};
  int64_t i = 0;
  for (; i + kWide <= n; i += kWide) sum += ExpOrZero(LoadVector(x + i) - top);
  if (i < n) sum += Keep(ExpOrZero(LoadPart(x + i, n - i) - top), n - i);
  const float log_sum = Log(All(SumAcross(sum)))[0];
  Map(x, y, n, [&](Floats v, int64_t) { return v - top - log_sum; });
}

void Rows(const float* x, float* y, int64_t rows, int64_t n, bool log) {
  for (int64_t i = 0; i < rows; ++i)
    log ? LogSoftmaxRow(x + i * n, y + i * n, n) : SoftmaxRow(x + i * n, y + i * n, n);
}

// Computes softmax of one vector of columns.
inline void Column(const float* x, float* y, int64_t length, int64_t step, int64_t count, bool log) {
  const auto load = [count](const float* p) { return count == kWide ? LoadVector(p) : LoadPart(p, count); };
  const auto store = [count](float* p, Floats v) {
    if (count == kWide)
      StoreVector(p, v);
    else
      StorePart(p, v, count);
  };
  Floats top = All(-kInfinity), sum{};
  for (int64_t i = 0; i < length; ++i) top = Larger(load(x + i * step), top);
  for (int64_t i = 0; i < length; ++i) {
    const Floats e = ExpOrZero(load(x + i * step) - top);
    sum += e;
    if (!log) store(y + i * step, e);
  }
  if (log) {
    const Floats log_sum = Log(sum);
    for (int64_t i = 0; i < length; ++i) store(y + i * step, load(x + i * step) - top - log_sum);
  } else {
    const Floats factor = 1.f / sum;
    for (int64_t i = 0; i < length; ++i) store(y + i * step, load(y + i * step) * factor);
  }
}

void Columns(const float* x, float* y, int64_t length, int64_t step, int64_t columns, bool log) {
  for (int64_t i = 0; i < columns; i += kWide)
    Column(x + i, y + i, length, step, MinOf(kWide, columns - i), log);
}

}  // namespace

const SoftmaxTable kSoftmaxSimd = {Rows, Columns};

}  // namespace tern::cpu::TERN_SIMD
