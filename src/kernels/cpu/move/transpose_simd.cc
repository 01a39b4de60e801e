#include "kernels/cpu/move/transpose_simd.h"

#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int64_t kSide = kLanes<float>;
using Lanes = typename MakeIndices<kLanes<float>>::Type;

// Element K * lanes + I of R rows that are read in turns: which row, and where in it.
template <int R, int K, int I> struct Turn {
  static constexpr int lanes = kLanes<float>, row = (K * lanes + I) % R, at = (K * lanes + I) / R;
};
// Element I of the rows C apart that start at the K-th element: which vector, and where in it.
template <int C, int K, int I> struct Apart {
  static constexpr int lanes = kLanes<float>, row = (I * C + K) / lanes, at = (I * C + K) % lanes;
};

// Lane I comes from vector From::row, lane From::at; vectors are brought in one after the other.
template <template <int, int, int> class From, int N, int K, int... I>
inline Vector<float> Pick(const Vector<float> (&v)[N], Indices<I...>) {
  constexpr int lanes = kLanes<float>;
  Vector<float> out = __builtin_shufflevector(v[0], v[1],
                                              (From<N, K, I>::row == 0   ? From<N, K, I>::at
                                               : From<N, K, I>::row == 1 ? lanes + From<N, K, I>::at
                                                                         : 0)...);
  if constexpr (N > 2)
    out = __builtin_shufflevector(out, v[2], (From<N, K, I>::row == 2 ? lanes + From<N, K, I>::at : I)...);
  if constexpr (N > 3)
    out = __builtin_shufflevector(out, v[3], (From<N, K, I>::row == 3 ? lanes + From<N, K, I>::at : I)...);
  return out;
}

template <template <int, int, int> class From, int N, int K = 0>
inline void PickEach(const Vector<float> (&v)[N], Vector<float> (&out)[N]) {
  out[K] = Pick<From, N, K>(v, Lanes{});
  if constexpr (K + 1 < N) PickEach<From, N, K + 1>(v, out);
}

// R rows of n to n groups of R.
template <int R> void Interleave(const float* x, int64_t row, int64_t n, float* y) {
  int64_t i = 0;
  for (; i + kSide <= n; i += kSide) {
    Vector<float> v[R], out[R];
    for (int r = 0; r < R; ++r) v[r] = LoadVector(x + r * row + i);
    PickEach<Turn, R>(v, out);
    for (int r = 0; r < R; ++r) StoreVector(y + i * R + r * kSide, out[r]);
  }
  for (; i < n; ++i)
    for (int r = 0; r < R; ++r) y[i * R + r] = x[r * row + i];
}

// n groups of C to C rows of n.
template <int C> void Separate(const float* x, int64_t n, float* y, int64_t row) {
  int64_t i = 0;
  for (; i + kSide <= n; i += kSide) {
    Vector<float> v[C], out[C];
    for (int c = 0; c < C; ++c) v[c] = LoadVector(x + i * C + c * kSide);
    PickEach<Apart, C>(v, out);
    for (int c = 0; c < C; ++c) StoreVector(y + c * row + i, out[c]);
  }
  for (; i < n; ++i)
    for (int c = 0; c < C; ++c) y[c * row + i] = x[i * C + c];
}

// Squares in registers; those that lie behind each other in `to` come one after the other. Few rows or
// columns that lie close together have ways of their own.
void Words(const void* from, int64_t from_row, int64_t rows, int64_t columns, void* to, int64_t to_row) {
  const auto* x = static_cast<const float*>(from);
  auto* y = static_cast<float*>(to);
  if (to_row == rows) {
    if (rows == 2) return Interleave<2>(x, from_row, columns, y);
    if (rows == 3) return Interleave<3>(x, from_row, columns, y);
    if (rows == 4) return Interleave<4>(x, from_row, columns, y);
  }
  if (from_row == columns) {
    if (columns == 2) return Separate<2>(x, rows, y, to_row);
    if (columns == 3) return Separate<3>(x, rows, y, to_row);
    if (columns == 4) return Separate<4>(x, rows, y, to_row);
  }
  for (int64_t j = 0; j < columns; j += kSide)
    for (int64_t i = 0; i < rows; i += kSide)
      TransposeBlock(x + i * from_row + j, from_row, Least(kSide, rows - i), Least(kSide, columns - j),
                     y + j * to_row + i, to_row);
}

}  // namespace

const TransposeTable kTransposeSimd = {Words};

}  // namespace tern::cpu::TERN_SIMD
