#include "kernels/cpu/gemm/gemm_simd.h"

#include "kernels/cpu/simd/vector-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// The register tile has kMr rows of kNv vectors. Its accumulators, one row of b and one element of a must fit
// into the registers.
#if defined(__AVX512F__)
constexpr int kMr = 12, kNv = 2;
#elif defined(__AVX2__)
constexpr int kMr = 6, kNv = 2;
#elif defined(__aarch64__)
constexpr int kMr = 8, kNv = 2;
#else
constexpr int kMr = 4, kNv = 2;
#endif
// Sizes of the cache blocks that are packed at a time: [kMc, kKc] for the matrix a, and [kKc, kNc] for the
// matrix b.
constexpr int64_t kMc = 12 * 12, kKc = 256, kNc = 1024;
constexpr int64_t kFinishElements = 2048;  // elements of c that Finish handles at a time
constexpr int64_t kSkinny = 4;             // up to this many rows, packing b costs more than it saves

template <class T> constexpr int64_t kNr = kNv* kLanes<T>;

int64_t RoundUp(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

// Computes sum[kMr][kNv] = a·b over kc steps. a is [kc, kMr]. b has kc rows of kNr elements with row stride
// `ldb`.
template <class T>
inline void Multiply(int64_t kc, const T* __restrict a, const T* __restrict b, int64_t ldb,
                     Vector<T> (&sum)[kMr][kNv]) {
#pragma GCC unroll 16
  for (int i = 0; i < kMr; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kNv; ++j) sum[i][j] = Vector<T>{};
  for (int64_t k = 0; k < kc; ++k, a += kMr, b += ldb) {
    Vector<T> row[kNv];
#pragma GCC unroll 4
    for (int j = 0; j < kNv; ++j) row[j] = LoadVector(b + j * kLanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < kMr; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kNv; ++j) sum[i][j] += a[i] * row[j];
  }
}

// Computes a full tile of c.
template <class T>
void FullTile(int64_t kc, const T* a, const T* b, int64_t ldb, T* c, int64_t ldc, bool accumulate) {
  Vector<T> sum[kMr][kNv];
  Multiply(kc, a, b, ldb, sum);
#pragma GCC unroll 16
  for (int i = 0; i < kMr; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kNv; ++j) {
      T* to = c + i * ldc + j * kLanes<T>;
      StoreVector(to, accumulate ? LoadVector<T>(to) + sum[i][j] : sum[i][j]);
    }
}

// Computes a full tile and stores its first `rows` rows and `columns` columns.
template <class T>
void PartTile(int64_t kc, const T* a, const T* b, int64_t ldb, T* c, int64_t ldc, bool accumulate,
              int64_t rows, int64_t columns) {
  T part[kMr * kNr<T>];
  FullTile(kc, a, b, ldb, part, kNr<T>, false);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      T& to = c[i * ldc + j];
      to = accumulate ? to + part[i * kNr<T> + j] : part[i * kNr<T> + j];
    }
}

// Packs a into panels of kMr rows: [panel][k][kMr], zero-padded after the last row.
template <class T, class S>
void PackA(const S* a, int64_t row, int64_t column, int64_t m, int64_t kc, T alpha, T* to) {
  for (int64_t i = 0; i < m; i += kMr, to += kMr * kc) {
    const int64_t rows = MinOf<int64_t>(kMr, m - i);
    const S* from = a + i * row;
    if (rows == kMr) {
      for (int64_t k = 0; k < kc; ++k)
        for (int r = 0; r < kMr; ++r) to[k * kMr + r] = alpha * ValueOf<T>(from[r * row + k * column]);
    } else {
      for (int64_t k = 0; k < kc; ++k)
        for (int64_t r = 0; r < kMr; ++r)
          to[k * kMr + r] = r < rows ? alpha * ValueOf<T>(from[r * row + k * column]) : T(0);
    }
  }
}

// Packs b into panels of kNr columns: [panel][k][kNr], zero-padded after the last column.
template <class T, class S>
void PackB(const S* b, int64_t row, int64_t column, int64_t kc, int64_t n, T* to) {
  constexpr int64_t nr = kNr<T>;
  for (int64_t j = 0; j < n; j += nr, to += nr * kc) {
    const int64_t columns = MinOf(nr, n - j);
    const S* from = b + j * column;
    if (columns == nr && column == 1) {
      for (int64_t k = 0; k < kc; ++k)
        for (int64_t c = 0; c < nr; ++c) to[k * nr + c] = ValueOf<T>(from[k * row + c]);
    } else {
      if (columns < nr)
        for (int64_t i = 0; i < kc * nr; ++i) to[i] = 0;
      for (int64_t c = 0; c < columns; ++c)
        for (int64_t k = 0; k < kc; ++k) to[k * nr + c] = ValueOf<T>(from[k * row + c * column]);
    }
  }
}

// Packs the rows of b that g.b_rows generates, in the layout of PackB.
template <class T> void PackRows(const GemmBlock& g, int64_t k0, int64_t kc, int64_t n0, int64_t n, T* to) {
  constexpr int64_t nr = kNr<T>;
  T row[kNc];
  for (int64_t k = 0; k < kc; ++k) {
    g.b_rows(g.b_context, g.batch, k0 + k, n0, n, row);
    for (int64_t j = n; j < RoundUp(n, nr); ++j) row[j] = 0;
    for (int64_t j = 0; j < n; j += nr) __builtin_memcpy(to + j * kc + k * nr, row + j, nr * sizeof(T));
  }
}

// Calls f with `data` as a pointer to the storage type. The compute type T limits which types are possible.
template <class T, class F> inline void Typed(const void* data, Stored type, const F& f) {
  if constexpr (__is_same(T, float)) {
    if (type == Stored::kF16) return f(static_cast<const Half*>(data));
    if (type == Stored::kBF16) return f(static_cast<const BFloat*>(data));
  }
  if constexpr (__is_same(T, uint32_t)) {
    if (type == Stored::kI8) return f(static_cast<const int8_t*>(data));
    if (type == Stored::kU8) return f(static_cast<const uint8_t*>(data));
    if (type == Stored::kI16) return f(static_cast<const int16_t*>(data));
    if (type == Stored::kU16) return f(static_cast<const uint16_t*>(data));
  }
  f(static_cast<const T*>(data));
}

// The memory that sums of type T are written to: c itself, or scratch memory for half precision.
template <class T> struct Target {
  T* data;
  int64_t row;
};

// Computes all tiles of a cache block [m, n].
template <class T>
void MultiplyBlock(const T* a, int64_t m, const T* b, int64_t n, int64_t kc, Target<T> c, bool accumulate) {
  constexpr int64_t nr = kNr<T>;
  for (int64_t j = 0; j < n; j += nr)
    for (int64_t i = 0; i < m; i += kMr) {
      const T *pa = a + i * kc, *pb = b + j * kc;
      T* to = c.data + i * c.row + j;
      if (i + kMr <= m && j + nr <= n)
        FullTile(kc, pa, pb, nr, to, c.row, accumulate);
      else
        PartTile(kc, pa, pb, nr, to, c.row, accumulate, MinOf<int64_t>(kMr, m - i), MinOf(nr, n - j));
    }
}

template <class T> void RunPacked(const GemmBlock& g, Target<T> c, T* packed_a, T* packed_b) {
  for (int64_t n0 = g.n0; n0 < g.n1; n0 += kNc) {
    const int64_t n = MinOf(kNc, g.n1 - n0);
    for (int64_t k0 = 0; k0 < g.k; k0 += kKc) {
      const int64_t kc = MinOf(kKc, g.k - k0);
      if (g.b_rows)
        PackRows(g, k0, kc, n0, n, packed_b);
      else
        Typed<T>(g.b.data, g.b.type, [&](auto* b) {
          PackB(b + k0 * g.b.row + n0 * g.b.column, g.b.row, g.b.column, kc, n, packed_b);
        });
      for (int64_t m0 = g.m0; m0 < g.m1; m0 += kMc) {
        const int64_t m = MinOf(kMc, g.m1 - m0);
        Typed<T>(g.a.data, g.a.type, [&](auto* a) {
          PackA(a + m0 * g.a.row + k0 * g.a.column, g.a.row, g.a.column, m, kc, static_cast<T>(g.alpha),
                packed_a);
        });
        MultiplyBlock(packed_a, m, packed_b, n, kc, {c.data + (m0 - g.m0) * c.row + n0 - g.n0, c.row},
                      k0 > 0 || g.accumulate);
      }
    }
  }
}

// Computes at most kSkinny rows with a row-major b: adds scaled rows of b to rows of c. a is packed as [m,
// k].
template <class T, class S> void RunRows(const GemmBlock& g, Target<T> c, const T* a, const S* b) {
  const int64_t m = g.m1 - g.m0;
  for (int64_t n0 = g.n0; n0 < g.n1; n0 += kNc) {
    const int64_t n = MinOf(kNc, g.n1 - n0);
    T* base = c.data + n0 - g.n0;
    for (int64_t i = 0; !g.accumulate && i < m; ++i)
      for (int64_t j = 0; j < n; ++j) base[i * c.row + j] = 0;
    for (int64_t k = 0; k < g.k; k += 4) {
      const int64_t last = g.k - 1 - k;
      const S* rows[4];
      for (int64_t r = 0; r < 4; ++r) rows[r] = b + (k + MinOf(r, last)) * g.b.row + n0;
      for (int64_t i = 0; i < m; ++i) {
        T f[4];
        for (int64_t r = 0; r < 4; ++r) f[r] = r <= last ? a[i * g.k + k + r] : T(0);
        T* __restrict to = base + i * c.row;
        if (last >= 3) {
          for (int64_t j = 0; j < n; ++j)
            to[j] += f[0] * ValueOf<T>(rows[0][j]) + f[1] * ValueOf<T>(rows[1][j]) +
                     f[2] * ValueOf<T>(rows[2][j]) + f[3] * ValueOf<T>(rows[3][j]);
        } else {
          for (int64_t r = 0; r <= last; ++r)
            for (int64_t j = 0; j < n; ++j) to[j] += f[r] * ValueOf<T>(rows[r][j]);
        }
      }
    }
  }
}

// Computes at most kSkinny rows with a column-major b: each element of c is a dot product. a is packed as [m,
// k].
template <class T, class S> void RunColumns(const GemmBlock& g, Target<T> c, const T* a, const S* b) {
  const int64_t m = g.m1 - g.m0;
  for (int64_t j = g.n0; j < g.n1; ++j) {
    const S* __restrict column = b + j * g.b.column;
    for (int64_t i = 0; i < m; ++i) {
      const T* __restrict row = a + i * g.k;
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t k = 0; k < g.k; ++k) sum += row[k] * ValueOf<T>(column[k]);
      T& to = c.data[i * c.row + j - g.n0];
      to = g.accumulate ? to + sum : sum;
    }
  }
}

template <class T> bool Skinny(const GemmBlock& g) {
  return g.m1 - g.m0 <= kSkinny && !g.b_rows && (g.b.column == 1 || g.b.row == 1);
}

template <class T> void RunSkinny(const GemmBlock& g, Target<T> c, T* packed_a) {
  const int64_t m = g.m1 - g.m0;
  Typed<T>(g.a.data, g.a.type, [&](auto* a) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t k = 0; k < g.k; ++k)
        packed_a[i * g.k + k] =
            static_cast<T>(g.alpha) * ValueOf<T>(a[(g.m0 + i) * g.a.row + k * g.a.column]);
  });
  Typed<T>(g.b.data, g.b.type, [&](auto* b) {
    if (g.b.column == 1)
      RunRows(g, c, packed_a, b);
    else
      RunColumns(g, c, packed_a, b);
  });
}

// Adds the bias, in T, to rows [m0, m0 + m) and columns [n0, n0 + n) of the product. `c` points to element
// [m0, n0].
template <class T>
void AddBias(const GemmBlock& g, Target<T> c, int64_t m0, int64_t m, int64_t n0, int64_t n) {
  if (g.row_bias) {
    Typed<T>(g.row_bias, g.c_type, [&](auto* bias) {
      for (int64_t i = 0; i < m; ++i) {
        const T v = ValueOf<T>(bias[m0 + i]);
        for (int64_t j = 0; j < n; ++j) c.data[i * c.row + j] += v;
      }
    });
  }
  if (g.column_bias) {
    Typed<T>(g.column_bias, g.c_type, [&](auto* bias) {
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) c.data[i * c.row + j] += ValueOf<T>(bias[n0 + j]);
    });
  }
}

// Adds the bias and runs the epilogue, in one pass after all products. The pass works on parts of c that fit
// into the L1 cache. Finishing each block of c right after its last product would evict the packed matrices
// from the cache.
template <class T> void Finish(const GemmBlock& g, Target<T> c) {
  if (!g.row_bias && !g.column_bias && !g.finish) return;
  const int64_t columns = MinOf(kFinishElements, g.n1 - g.n0),
                rows = MaxOf<int64_t>(1, kFinishElements / columns);
  for (int64_t m0 = g.m0; m0 < g.m1; m0 += rows)
    for (int64_t n0 = g.n0; n0 < g.n1; n0 += columns) {
      const int64_t m = MinOf(rows, g.m1 - m0), n = MinOf(columns, g.n1 - n0);
      const Target<T> part{c.data + (m0 - g.m0) * c.row + n0 - g.n0, c.row};
      AddBias(g, part, m0, m, n0, n);
      if (g.finish) g.finish(g, g.c_at + m0 * g.c_row + n0, m, n, part.data, part.row);
    }
}

template <class T> void Compute(const GemmBlock& g, Target<T> c, T* scratch) {
  if (Skinny<T>(g))
    RunSkinny(g, c, scratch);
  else if (g.k > 0)
    RunPacked(g, c, scratch, scratch + kMc * MinOf(kKc, g.k));
  else
    for (int64_t i = 0; !g.accumulate && i < g.m1 - g.m0; ++i)
      for (int64_t j = 0; j < g.n1 - g.n0; ++j) c.data[i * c.row + j] = 0;
  Finish(g, c);
}

// Computes c if its type is f16 or bf16 (S). Sums are accumulated in f32 scratch memory and rounded at the
// end.
template <class S> void RunRounded(const GemmBlock& g) {
  const int64_t m = g.m1 - g.m0, n = g.n1 - g.n0;
  auto* sums = static_cast<float*>(g.scratch);
  Compute<float>(g, {sums, n}, sums + RoundUp(m * n, 16));
  S* to = static_cast<S*>(g.c) + g.m0 * g.c_row + g.n0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) to[i * g.c_row + j] = StoredAs<S>(sums[i * n + j]);
}

template <class T> void Run(const GemmBlock& g) {
  if constexpr (__is_same(T, float)) {
    if (g.c_type == Stored::kF16) return RunRounded<Half>(g);
    if (g.c_type == Stored::kBF16) return RunRounded<BFloat>(g);
  }
  Compute<T>(g, {static_cast<T*>(g.c) + g.m0 * g.c_row + g.n0, g.c_row}, static_cast<T*>(g.scratch));
}

template <class T> int64_t Scratch(int64_t m, int64_t n, int64_t k, bool half_result) {
  const int64_t kc = MinOf(kKc, k);
  const int64_t packed = kMc * kc + RoundUp(MinOf(kNc, n), kNr<T>) * kc, rows = kSkinny * k;
  return static_cast<int64_t>(sizeof(T)) * (MaxOf(packed, rows) + (half_result ? RoundUp(m * n, 16) : 0));
}

template <class T>
constexpr GemmTable kTable = {kMr, static_cast<int>(kNr<T>), kMc, kKc, kNc, Run<T>, Scratch<T>};

}  // namespace

const GemmTables kGemmSimd = {kTable<float>, kTable<double>, kTable<uint32_t>, kTable<uint64_t>};

}  // namespace tern::cpu::TERN_SIMD
