#include "kernels/cpu/reduce/rows_simd.h"

#include "kernels/cpu/simd/sum-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Returns the maximum or minimum of a row, or NaN if an element is NaN. f returns its second operand if one
// operand is NaN.
template <class F> inline float Extreme(const float* x, int64_t n, float start, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  Floats a = All(start), b = a;
  Ints is_nan{};
  const auto join = [&](Floats v, Floats& best) {
    best = f(v, best);
    is_nan |= v != v;
  };
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    join(LoadVector(x + i), a);
    join(LoadVector(x + i + lanes), b);
  }
  for (; i < n; i += lanes)
    join(i + lanes <= n ? LoadVector(x + i) : Keep(LoadPart(x + i, n - i), n - i, All(start)), a);
  for (int lane = 0; lane < lanes; ++lane)
    if (is_nan[lane]) return __builtin_nanf("");
  return Across(f(a, b), [&](auto p, auto q) { return start < 0 ? (p > q ? p : q) : (p < q ? p : q); });
}

float Multiplied(const float* x, int64_t n) {
  constexpr int lanes = 4 * kLanes<float>;
  float parts[lanes];
  for (float& part : parts) part = 1;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int j = 0; j < lanes; ++j) parts[j] *= x[i + j];
  float product = 1;
  for (float part : parts) product *= part;
  for (; i < n; ++i) product *= x[i];
  return product;
}

float Reduce(RowSum kind, const float* x, int64_t n) {
  switch (kind) {
    case RowSum::kSum:
      return SumLong(x, n, [](Floats v) { return v; });
    case RowSum::kL1:
      return SumLong(x, n, [](Floats v) { return Absolute(v); });
    case RowSum::kSquare:
      return SumLong(x, n, [](Floats v) { return v * v; });
    case RowSum::kMax:
      return Extreme(x, n, -kInfinity, [](Floats a, Floats b) { return Larger(a, b); });
    case RowSum::kMin:
      return Extreme(x, n, kInfinity, [](Floats a, Floats b) { return Smaller(a, b); });
    default:
      return Multiplied(x, n);
  }
}

// Combines N vectors of columns. Accumulators are in registers.
template <int N, class F>
inline void Columns(const float* x, int64_t rows, int64_t step, float* y, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  Floats v[N];
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) v[j] = LoadVector(y + j * lanes);
  for (int64_t r = 0; r < rows; ++r, x += step)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) v[j] = f(v[j], LoadVector(x + j * lanes));
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) StoreVector(y + j * lanes, v[j]);
}

// Sums N vectors of columns in two levels of blocks. kBlock rows are added to a block sum, kBlock block sums
// are added to a group sum, and all group sums are added to the total. The rounding error grows with the
// longest chain of additions. Its length is 2 * kBlock + rows / kBlock^2 instead of rows.
constexpr int64_t kBlock = 8;

template <int N, class F>
inline void SumColumns(const float* x, int64_t rows, int64_t step, float* y, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  Floats total[N];
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) total[j] = LoadVector(y + j * lanes);
  for (int64_t r = 0; r < rows;) {
    const int64_t end = MinOf(rows, r + kBlock * kBlock);
    Floats group[N] = {};
    while (r < end) {
      const int64_t last = MinOf(end, r + kBlock);
      Floats block[N] = {};
      for (; r < last; ++r, x += step)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) block[j] = f(block[j], LoadVector(x + j * lanes));
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) group[j] += block[j];
    }
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) total[j] += group[j];
  }
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) StoreVector(y + j * lanes, total[j]);
}

// Sums columns that do not fill a vector.
template <class F>
inline Floats SumPart(Floats total, const float* x, int64_t rows, int64_t step, int64_t n, const F& f) {
  for (int64_t r = 0; r < rows;) {
    const int64_t end = MinOf(rows, r + kBlock * kBlock);
    Floats group{};
    while (r < end) {
      const int64_t last = MinOf(end, r + kBlock);
      Floats block{};
      for (; r < last; ++r) block = f(block, LoadPart(x + r * step, n));
      group += block;
    }
    total += group;
  }
  return total;
}

template <class F>
inline void CombineRows(const float* x, int64_t rows, int64_t step, float* y, int64_t n, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) Columns<4>(x + i, rows, step, y + i, f);
  for (; i + lanes <= n; i += lanes) Columns<1>(x + i, rows, step, y + i, f);
  if (i == n) return;
  Floats v = LoadPart(y + i, n - i);
  for (int64_t r = 0; r < rows; ++r) v = f(v, LoadPart(x + i + r * step, n - i));
  StorePart(y + i, v, n - i);
}

template <class F>
inline void SumRows(const float* x, int64_t rows, int64_t step, float* y, int64_t n, const F& f) {
  constexpr int64_t lanes = kLanes<float>;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) SumColumns<4>(x + i, rows, step, y + i, f);
  for (; i + lanes <= n; i += lanes) SumColumns<1>(x + i, rows, step, y + i, f);
  if (i < n) StorePart(y + i, SumPart(LoadPart(y + i, n - i), x + i, rows, step, n - i, f), n - i);
}

void Join(RowSum kind, const float* x, int64_t rows, int64_t step, float* y, int64_t n) {
  switch (kind) {
    case RowSum::kSum:
      return SumRows(x, rows, step, y, n, [](Floats a, Floats b) { return a + b; });
    case RowSum::kL1:
      return SumRows(x, rows, step, y, n, [](Floats a, Floats b) { return a + Absolute(b); });
    case RowSum::kSquare:
      return SumRows(x, rows, step, y, n, [](Floats a, Floats b) { return a + b * b; });
    case RowSum::kMax:
      return CombineRows(x, rows, step, y, n, [](Floats a, Floats b) { return (a != a) | (a > b) ? a : b; });
    case RowSum::kMin:
      return CombineRows(x, rows, step, y, n, [](Floats a, Floats b) { return (a != a) | (a < b) ? a : b; });
    default:
      return CombineRows(x, rows, step, y, n, [](Floats a, Floats b) { return a * b; });
  }
}

// Computes exp(x - top). If x equals top, the result is 1, also if both are infinite.
inline Floats Share(Floats x, Floats top) { return x == top ? All(1.f) : Exp(x - top); }

float ExpSum(const float* x, float top, int64_t n) {
  return SumLong(x, n, [top](Floats v) { return Share(v, All(top)); });
}

void JoinExp(const float* x, const float* top, float* y, int64_t n) {
  constexpr int64_t lanes = kLanes<float>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    StoreVector(y + i, LoadVector(y + i) + Share(LoadVector(x + i), LoadVector(top + i)));
  if (i == n) return;
  const Floats share = Share(LoadPart(x + i, n - i), LoadPart(top + i, n - i));
  StorePart(y + i, LoadPart(y + i, n - i) + share, n - i);
}

}  // namespace

const RowTable kRowSimd = {Reduce, Join, ExpSum, JoinExp};

}  // namespace tern::cpu::TERN_SIMD
