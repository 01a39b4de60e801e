#include "kernels/cpu/reduce/rows_simd.h"

#include "kernels/cpu/elementwise/math-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kBlock = 4096;  // summed in f32; blocks are summed in f64

inline float Higher(float a, float b) { return a != a || a > b ? a : b; }
inline float Lower(float a, float b) { return a != a || a < b ? a : b; }

template <class F> inline float Sum(const float* x, int64_t n, const F& f) {
  double total = 0;
  for (int64_t from = 0; from < n; from += kBlock) {
    const int64_t to = Least(n, from + kBlock);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = from; i < to; ++i) sum += f(x[i]);
    total += sum;
  }
  return static_cast<float>(total);
}

// Many lanes side by side, then the lanes together.
template <class F> inline float Fold(const float* x, int64_t n, float start, const F& f) {
  constexpr int lanes = 4 * kLanes<float>;
  float best[lanes];
  for (int j = 0; j < lanes; ++j) best[j] = start;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; ++j) best[j] = f(best[j], x[i + j]);
  float all = start;
  for (int j = 0; j < lanes; ++j) all = f(all, best[j]);
  for (; i < n; ++i) all = f(all, x[i]);
  return all;
}

float Reduce(RowSum kind, const float* x, int64_t n) {
  switch (kind) {
    case RowSum::kSum:
      return Sum(x, n, [](float v) { return v; });
    case RowSum::kL1:
      return Sum(x, n, [](float v) { return Absolute(v); });
    case RowSum::kSquare:
      return Sum(x, n, [](float v) { return v * v; });
    case RowSum::kMax:
      return Fold(x, n, -kInfinity, [](float a, float b) { return Higher(a, b); });
    case RowSum::kMin:
      return Fold(x, n, kInfinity, [](float a, float b) { return Lower(a, b); });
    default:
      return Fold(x, n, 1.f, [](float a, float b) { return a * b; });
  }
}

template <class F> inline void Each(const float* __restrict x, float* __restrict y, int64_t n, const F& f) {
  for (int64_t i = 0; i < n; ++i) y[i] = f(y[i], x[i]);
}

void Join(RowSum kind, const float* x, float* y, int64_t n) {
  switch (kind) {
    case RowSum::kSum:
      return Each(x, y, n, [](float a, float b) { return a + b; });
    case RowSum::kL1:
      return Each(x, y, n, [](float a, float b) { return a + Absolute(b); });
    case RowSum::kSquare:
      return Each(x, y, n, [](float a, float b) { return a + b * b; });
    case RowSum::kMax:
      return Each(x, y, n, [](float a, float b) { return Higher(a, b); });
    case RowSum::kMin:
      return Each(x, y, n, [](float a, float b) { return Lower(a, b); });
    default:
      return Each(x, y, n, [](float a, float b) { return a * b; });
  }
}

float ExpSum(const float* x, float top, float* y, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) {
    const float e = Exp(x[i] - top);
    y[i] = e;
    sum += e;
  }
  return sum;
}

float ExpSumOnly(const float* x, float top, int64_t n) {
  return Sum(x, n, [top](float v) { return v == top ? 1.f : Exp(v - top); });
}

void JoinExp(const float* __restrict x, const float* __restrict top, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += x[i] == top[i] ? 1.f : Exp(x[i] - top[i]);
}

float Spread(const float* x, float mean, int64_t n) {
  return Sum(x, n, [mean](float v) { return (v - mean) * (v - mean); });
}

void Affine(const float* x, float a, float b, float* y, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * a + b;
}

void Normalize(const float* x, float mean, float factor, const float* scale, const float* bias, float* y,
               int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor;
  if (scale) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] *= scale[i];
  }
  if (bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) y[i] += bias[i];
  }
}

}  // namespace

const RowTable kRowSimd = {Reduce, Join, ExpSum, ExpSumOnly, JoinExp, Spread, Affine, Normalize};

}  // namespace tern::cpu::TERN_SIMD
