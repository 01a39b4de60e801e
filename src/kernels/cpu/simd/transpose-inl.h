// Transposes square blocks in registers, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

template <class T> using SquareOf = Vector<T>[kLanes<T>];
using Square = SquareOf<float>;

template <int... I> struct Indices {};
template <int N, int... I> struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I> struct MakeIndices<0, I...> { using Type = Indices<I...>; };

// Lower and Upper compute the two results of one butterfly step of a transpose. D is a power of two. For D =
// 1, Lower returns {a0, b0, a2, b2, …} and Upper returns {a1, b1, a3, b3, …}. For D = 2, Lower returns {a0,
// a1, b0, b1, …} and Upper returns {a2, a3, b2, b3, …}.
template <int D, class V, int... I> inline V Lower(V a, V b, Indices<I...>) {
  constexpr int lanes = sizeof...(I);
  return __builtin_shufflevector(a, b, (I & D ? lanes + I - D : I)...);
}
template <int D, class V, int... I> inline V Upper(V a, V b, Indices<I...>) {
  constexpr int lanes = sizeof...(I);
  return __builtin_shufflevector(a, b, (I & D ? lanes + I : I + D)...);
}

template <int D, class V, int N> inline void TransposeBy(V (&rows)[N]) {
  constexpr typename MakeIndices<N>::Type all{};
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) {
    if (i & D) continue;
    const V a = rows[i], b = rows[i + D];
    rows[i] = Lower<D>(a, b, all);
    rows[i + D] = Upper<D>(a, b, all);
  }
  if constexpr (D > 1) TransposeBy<D / 2>(rows);
}

// Swaps rows[i][j] and rows[j][i].
template <class V, int N> inline void Transpose(V (&rows)[N]) { TransposeBy<N / 2>(rows); }

// to[j * to_row + i] = f(from[i * from_row + j]) for i < rows and j < columns. rows and columns must be at
// most kLanes<float>. f maps vectors to vectors.
template <class F>
inline void TransposeBlock(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to,
                           int64_t to_row, const F& f) {
  constexpr int lanes = kLanes<float>;
  Square s;
  if (rows == lanes && columns == lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) s[i] = f(LoadVector(from + i * from_row));
    Transpose(s);
#pragma GCC unroll 16
    for (int i = 0; i < lanes; ++i) StoreVector(to + i * to_row, s[i]);
    return;
  }
  for (int i = 0; i < lanes; ++i)
    s[i] = i < rows ? f(LoadPart(from + i * from_row, columns)) : Vector<float>{};
  Transpose(s);
  for (int i = 0; i < columns; ++i) StorePart(to + i * to_row, s[i], rows);
}
inline void TransposeBlock(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to,
                           int64_t to_row) {
  TransposeBlock(from, from_row, rows, columns, to, to_row, [](Vector<float> v) { return v; });
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
