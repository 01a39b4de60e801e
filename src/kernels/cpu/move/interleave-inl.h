// Interleaves and deinterleaves two to four rows of elements of any size, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Size of the largest vector whose elements one instruction can permute in any order. It is 16 bytes for
// 8-bit elements, and also for 16-bit elements if AVX-512 is missing.
#if defined(__AVX512F__)
template <class T> constexpr int kPickBytes = sizeof(T) == 1 ? 16 : kVectorBytes;
#else
template <class T> constexpr int kPickBytes = sizeof(T) <= 2 ? 16 : kVectorBytes;
#endif
template <class T> struct PickOf { typedef T Type __attribute__((vector_size(kPickBytes<T>))); };
template <class T> using PickVector = typename PickOf<T>::Type;
template <class T> constexpr int kPickLanes = kPickBytes<T> / static_cast<int>(sizeof(T));

template <class T> inline PickVector<T> LoadPick(const T* p) {
  PickVector<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T> inline void StorePick(T* p, PickVector<T> v) { __builtin_memcpy(p, &v, sizeof v); }

// When R rows are interleaved, element I of output vector K is element `at` of input row `row`.
template <int Lanes, int R, int K, int I> struct Interleaved {
  static constexpr int row = (K * Lanes + I) % R, at = (K * Lanes + I) / R;
};
// When C rows are deinterleaved, element I of output row K is lane `at` of input vector `row`.
template <int Lanes, int C, int K, int I> struct Deinterleaved {
  static constexpr int row = (I * C + K) / Lanes, at = (I * C + K) % Lanes;
};

// Lane I of the result is lane From::at of vector From::row. The first shuffle combines v[0] and v[1]. Each
// further shuffle adds the lanes of one more vector.
template <template <int, int, int, int> class From, int K, class V, int N, int... I>
inline V Pick(const V (&v)[N], Indices<I...>) {
  constexpr int lanes = sizeof...(I);
  V out = __builtin_shufflevector(v[0], v[1],
                                  (From<lanes, N, K, I>::row == 0   ? From<lanes, N, K, I>::at
                                   : From<lanes, N, K, I>::row == 1 ? lanes + From<lanes, N, K, I>::at
                                                                    : 0)...);
  if constexpr (N > 2)
    out = __builtin_shufflevector(out, v[2],
                                  (From<lanes, N, K, I>::row == 2 ? lanes + From<lanes, N, K, I>::at : I)...);
  if constexpr (N > 3)
    out = __builtin_shufflevector(out, v[3],
                                  (From<lanes, N, K, I>::row == 3 ? lanes + From<lanes, N, K, I>::at : I)...);
  return out;
}

template <template <int, int, int, int> class From, class T, int K = 0, int N>
inline void PickAll(const PickVector<T> (&v)[N], PickVector<T> (&out)[N]) {
  out[K] = Pick<From, K>(v, typename MakeIndices<kPickLanes<T>>::Type{});
  if constexpr (K + 1 < N) PickAll<From, T, K + 1>(v, out);
}

// Converts R rows of n elements to n groups of R elements. T may be a group of smaller elements. Then x and y
// need only the alignment of the smaller elements.
template <int R, class T> void Interleave(const T* x, int64_t row, int64_t n, T* y) {
  constexpr int lanes = kPickLanes<T>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    PickVector<T> v[R], out[R];
    for (int r = 0; r < R; ++r) v[r] = LoadPick(x + r * row + i);
    PickAll<Interleaved, T>(v, out);
    for (int r = 0; r < R; ++r) StorePick(y + i * R + r * lanes, out[r]);
  }
  for (; i < n; ++i)
    for (int r = 0; r < R; ++r) __builtin_memcpy(y + i * R + r, x + r * row + i, sizeof(T));
}

// Converts n groups of C elements to C rows of n.
template <int C, class T> void Separate(const T* x, int64_t n, T* y, int64_t row) {
  constexpr int lanes = kPickLanes<T>;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    PickVector<T> v[C], out[C];
    for (int c = 0; c < C; ++c) v[c] = LoadPick(x + i * C + c * lanes);
    PickAll<Deinterleaved, T>(v, out);
    for (int c = 0; c < C; ++c) StorePick(y + c * row + i, out[c]);
  }
  for (; i < n; ++i)
    for (int c = 0; c < C; ++c) __builtin_memcpy(y + c * row + i, x + i * C + c, sizeof(T));
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
