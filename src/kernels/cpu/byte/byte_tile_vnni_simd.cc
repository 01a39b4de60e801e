// This file is compiled with -ffp-contract=off, so that every float operation is rounded.
#include "kernels/cpu/byte/byte_tile.h"

#include "kernels/cpu/byte/byte_finish-inl.h"
#include "kernels/cpu/byte/dot-inl.h"
#include "kernels/cpu/gemm/row_pointers-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Size of the register tile. Its sums, one row of b and one dword of a fill the registers.
#if defined(__AVX512VNNI__)
constexpr int kRows = 14;
#elif defined(__AVX512F__)
constexpr int kRows = 13;  // one register is for products
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif
// Without VNNI, a dword has two numbers of 16 bits, and takes a product and an addition. These run in more
// execution units than a multiply-add of f32.
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
constexpr double kDotCost = 1;
#elif defined(__SSE2__)
constexpr double kDotCost = 1.2;
#else
constexpr double kDotCost = 5;
#endif
constexpr int kStep = 4 * kWidth;                         // bytes of a panel per dword of k
constexpr int kPrefetchDistance = 16, kPrefetchRows = 9;  // as in tile-inl.h

template <int R, int N> inline void Start(const ByteTile& t, Ints (&sum)[R][N]) {
  const int32_t* bias = t.epilogue->bias;
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    const int64_t columns = MinOf<int64_t>(t.columns - j * kLane, kLane);
    const Ints start = bias ? LoadInts(bias + t.column + j * kLane, columns) : Ints{};
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i][j] = start;
  }
}

template <int R, int N> inline void Multiply(const ByteTile& t, Ints (&sum)[R][N]) {
  const int8_t* b = t.b;
  const int8_t* prefetch = t.prefetch ? t.prefetch : t.b;
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    RowPointers<uint32_t, R> rows(t.starts ? t.a + t.starts[segment] : t.a, t.a_row);
    for (int64_t k = t.k; k > 0; --k, b += kStep) {
      rows.Settle();
      if constexpr (R > 6) {
        __builtin_prefetch(prefetch, 0, 2);
        prefetch += t.prefetch_step;
      }
      Weights w[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) w[j] = LoadWeights(b + 4 * j * kLane);
#pragma GCC unroll 4
      for (int j = 0; R >= kPrefetchRows && j < N; ++j)
        __builtin_prefetch(b + kPrefetchDistance * kStep + 4 * j * kLane);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const Pixels x = SpreadPixels(rows.At(i, 0));
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) AddDot(sum[i][j], x, w[j]);
      }
      rows.Advance(1);
    }
  }
}

inline uint32_t DwordAt(const uint8_t* p) {
  uint32_t v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// Uses separate sums for four consecutive steps of k. Tiles of few rows otherwise have too few independent
// sums to hide the latency of products.
template <int R, int N> inline void MultiplyFewRows(const ByteTile& t, Ints (&sum)[R][N]) {
  constexpr int kSteps = 4;
  Ints part[kSteps][R][N] = {};
  const int8_t* b = t.b;
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    const uint8_t* a = t.starts ? t.a + t.starts[segment] : t.a;
    int64_t k = 0;
    for (; k + kSteps <= t.k; k += kSteps, b += kSteps * kStep)
#pragma GCC unroll 4
      for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) {
          const Pixels x = SpreadPixels(DwordAt(a + i * t.a_row + 4 * (k + s)));
#pragma GCC unroll 4
          for (int j = 0; j < N; ++j) AddDot(part[s][i][j], x, LoadWeights(b + s * kStep + 4 * j * kLane));
        }
    for (; k < t.k; ++k, b += kStep)
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) {
        const Pixels x = SpreadPixels(DwordAt(a + i * t.a_row + 4 * k));
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) AddDot(part[0][i][j], x, LoadWeights(b + 4 * j * kLane));
      }
  }
#pragma GCC unroll 4
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j)
      sum[i][j] += (part[0][i][j] + part[1][i][j]) + (part[2][i][j] + part[3][i][j]);
}

template <int R, int N = kVectors> void Run(const ByteTile& t) {
  if constexpr (N > 1)
    if (t.columns <= (N - 1) * kLane) return Run<R, N - 1>(t);
  Ints sum[R][N];
  Start(t, sum);
  if constexpr (R * N <= 4)
    MultiplyFewRows(t, sum);
  else
    Multiply(t, sum);
  Finish<kRows>(t, sum);
}

template <int R = kRows> constexpr void Fill(ByteTileTable& table) {
  table.run[R] = Run<R>;
  if constexpr (R > 1) Fill<R - 1>(table);
}

constexpr ByteTileTable TableOf() {
  ByteTileTable table{kRows, kWidth, kLane, 1, kElementBytes, kDotCost, 4, {}};
  Fill(table);
  return table;
}

}  // namespace

const ByteTileTable kByteTileVectorsPlain = TableOf();

}  // namespace tern::cpu::TERN_SIMD
