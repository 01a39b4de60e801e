// Transposes squares of elements of 1, 2, 4 or 8 bytes in registers, for *_simd.cc files.
#pragma once
#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

template <class T> constexpr int64_t kSide = kLanes<T>;

// Interleaves the lower or upper halves of each 16 bytes of a and b.
template <int Half, class V, int... I> inline V Zip(V a, V b, Indices<I...>) {
  constexpr int lanes = sizeof...(I), part = 16 / static_cast<int>(sizeof(a[0]));
  return __builtin_shufflevector(a, b,
                                 (I % 2 * lanes + I / part * part + Half * (part / 2) + I % part / 2)...);
}
template <int Half, class T> inline Vector<T> Zip(Vector<T> a, Vector<T> b) {
  return Zip<Half>(a, b, typename MakeIndices<kLanes<T>>::Type{});
}

// Packs elements of 2 or 4 rows into dwords: dwords[k][w] contains the elements of column LaneColumn(k, w).
inline void Pack(const Vector<uint16_t> (&row)[2], Vector<float> (&dwords)[2]) {
  dwords[0] = Vector<float>(Zip<0, uint16_t>(row[0], row[1]));
  dwords[1] = Vector<float>(Zip<1, uint16_t>(row[0], row[1]));
}
inline void Pack(const Vector<uint8_t> (&row)[4], Vector<float> (&dwords)[4]) {
  using Pairs = Vector<uint16_t>;
  const Pairs lower[2] = {Pairs(Zip<0, uint8_t>(row[0], row[1])), Pairs(Zip<0, uint8_t>(row[2], row[3]))};
  const Pairs upper[2] = {Pairs(Zip<1, uint8_t>(row[0], row[1])), Pairs(Zip<1, uint8_t>(row[2], row[3]))};
  Vector<float> w[2];
  Pack(lower, w);
  dwords[0] = w[0], dwords[1] = w[1];
  Pack(upper, w);
  dwords[2] = w[0], dwords[3] = w[1];
}
template <class T> inline int64_t LaneColumn(int64_t k, int64_t w) {
  constexpr int64_t part = 16 / sizeof(T);
  return w / 4 * part + 4 * k + w % 4;
}

// Sets to[j * to_row + i] to from[i * from_row + j] for i, j < kSide. This function must not be inlined into
// a loop. Compilers would then compute every multiple of the strides before the loop and run out of
// registers.
template <class T>
__attribute__((noinline)) void TransposeSquare(const T* from, int64_t from_row, T* to, int64_t to_row) {
  if constexpr (sizeof(T) >= 4) {
    SquareOf<T> s;
#pragma GCC unroll 16
    for (int i = 0; i < kSide<T>; ++i) s[i] = LoadVector(from + i * from_row);
    Transpose(s);
#pragma GCC unroll 16
    for (int j = 0; j < kSide<T>; ++j) StoreVector(to + j * to_row, s[j]);
  } else {
    constexpr int group = 4 / sizeof(T), dwords = kLanes<float>;
    Square s[group];
#pragma GCC unroll 16
    for (int g = 0; g < dwords; ++g) {
      Vector<T> rows[group];
      Vector<float> packed[group];
#pragma GCC unroll 4
      for (int r = 0; r < group; ++r) rows[r] = LoadVector(from + (g * group + r) * from_row);
      Pack(rows, packed);
#pragma GCC unroll 4
      for (int k = 0; k < group; ++k) s[k][g] = packed[k];
    }
#pragma GCC unroll 4
    for (int k = 0; k < group; ++k) {
      Transpose(s[k]);
#pragma GCC unroll 16
      for (int w = 0; w < dwords; ++w) StoreVector(to + LaneColumn<T>(k, w) * to_row, Vector<T>(s[k][w]));
    }
  }
}

// Loads the first n elements, 0 <= n <= kSide. The other elements are 0, and their memory is not accessed.
template <class T> inline Vector<T> LoadFirst(const T* p, int64_t n) {
  Vector<T> v{};
  __builtin_memcpy(&v, p, static_cast<uint64_t>(n) * sizeof(T));
  return v;
}
template <class T> inline void StoreFirst(T* p, Vector<T> v, int64_t n) {
  __builtin_memcpy(p, &v, static_cast<uint64_t>(n) * sizeof(T));
}
inline Vector<float> LoadFirst(const float* p, int64_t n) { return LoadPart(p, n); }
inline void StoreFirst(float* p, Vector<float> v, int64_t n) { StorePart(p, v, n); }
#if defined(__AVX512F__)
inline uint64_t FirstBytes(int64_t n) { return _bzhi_u64(~uint64_t{0}, static_cast<unsigned>(n)); }
inline Vector<uint8_t> LoadFirst(const uint8_t* p, int64_t n) {
  return Vector<uint8_t>(_mm512_maskz_loadu_epi8(FirstBytes(n), p));
}
inline void StoreFirst(uint8_t* p, Vector<uint8_t> v, int64_t n) {
  _mm512_mask_storeu_epi8(p, FirstBytes(n), __m512i(v));
}
inline Vector<uint16_t> LoadFirst(const uint16_t* p, int64_t n) {
  return Vector<uint16_t>(_mm512_maskz_loadu_epi16(static_cast<__mmask32>(FirstBytes(n)), p));
}
inline void StoreFirst(uint16_t* p, Vector<uint16_t> v, int64_t n) {
  _mm512_mask_storeu_epi16(p, static_cast<__mmask32>(FirstBytes(n)), __m512i(v));
}
inline Vector<double> LoadFirst(const double* p, int64_t n) {
  return Vector<double>(_mm512_maskz_loadu_pd(static_cast<__mmask8>(FirstBytes(n)), p));
}
inline void StoreFirst(double* p, Vector<double> v, int64_t n) {
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>(FirstBytes(n)), __m512d(v));
}
#endif

// Does the same as TransposeSquare for i < rows and j < columns. rows and columns must be at most kSide.
template <class T>
__attribute__((noinline)) void TransposePart(const T* from, int64_t from_row, int64_t rows, int64_t columns,
                                             T* to, int64_t to_row) {
  if constexpr (sizeof(T) == 4) return TransposeBlock(from, from_row, rows, columns, to, to_row);
  SquareOf<T> in, out;
  for (int64_t i = 0; i < kSide<T>; ++i)
    in[i] = i < rows ? LoadFirst(from + i * from_row, columns) : Vector<T>{};
  TransposeSquare(reinterpret_cast<const T*>(in), kSide<T>, reinterpret_cast<T*>(out), kSide<T>);
  for (int64_t j = 0; j < columns; ++j) StoreFirst(to + j * to_row, out[j], rows);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
