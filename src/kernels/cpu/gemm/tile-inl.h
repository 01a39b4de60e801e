// The register tile of matrix products, for *_simd.cc files. Ops is a struct of the file that includes this
// header. It defines what a dword of a and a vector of b contain, and how their product is accumulated.
#pragma once
#include "kernels/cpu/gemm/row_pointers-inl.h"
#include "kernels/cpu/gemm/tile.h"
#include "kernels/cpu/simd/bf16-inl.h"
#include "kernels/cpu/simd/part-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Size of the register tile. Its accumulators, one row of b and one element of a fill the registers.
#if defined(__AVX512F__)
constexpr int kRows = 14, kVectors = 2;
#elif defined(__AVX2__)
constexpr int kRows = 6, kVectors = 2;
#elif defined(__aarch64__)
constexpr int kRows = 8, kVectors = 3;
#else
constexpr int kRows = 4, kVectors = 2;
#endif
constexpr int kWidth = kVectors * kLanes<float>;
#if defined(__AVX512F__)
constexpr int kGranule = kLanes<float> / 2;  // see RunHalf
#else
constexpr int kGranule = kLanes<float>;
#endif
// kPrefetchDistance is the number of rows of b between prefetch and use. Tiles of fewer than kPrefetchRows
// rows do not prefetch b, because memory bandwidth limits them and prefetching slows them down.
constexpr int kPrefetchDistance = 16, kPrefetchRows = 9;

using Floats = Vector<float>;

template <class Ops, int R, int N> inline void Multiply(const Tile& t, Floats (&sum)[R][N]) {
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = Floats{};
  const float* b = t.b;
  const char* prefetch = reinterpret_cast<const char*>(t.prefetch ? t.prefetch : t.b);
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    RowPointers<typename Ops::Dword, R> rows(t.starts ? t.a + t.starts[segment] : t.a, t.a_row * 4);
    for (int64_t k = t.k; k > 0; --k, b += kWidth) {
      rows.Settle();
      if constexpr (R > 6) {  // smaller tiles are slowed down by prefetching
        __builtin_prefetch(prefetch, 0, 2);
        prefetch += t.prefetch_step * 4;
      }
      typename Ops::Row row[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) row[j] = Ops::Load(b + j * kLanes<float>);
#pragma GCC unroll 4
      for (int j = 0; R >= kPrefetchRows && j < N; ++j)
        __builtin_prefetch(b + kPrefetchDistance * kWidth + j * kLanes<float>);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const auto x = rows.At(i, 0);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) Ops::Add(sum[i][j], x, row[j]);
      }
      rows.Advance(1);
    }
  }
}

template <class Dword> inline Dword LaneAt(const float* p) {
  Dword v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

// Uses four accumulators per sum. Tiles of few rows otherwise have too few independent sums to hide the
// latency of multiply-adds. The accumulators belong to the steps of k modulo 4, or to the quarters of k if
// t.streams is true.
template <class Ops, int R, int N> inline void MultiplyFewRows(const Tile& t, Floats (&sum)[R][N]) {
  using Dword = typename Ops::Dword;
  constexpr int kParts = 4;
  Floats part[kParts][R][N];
#pragma GCC unroll 4
  for (int s = 0; s < kParts; ++s)
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) part[s][i][j] = Floats{};
  const auto add = [&](const float* a, const float* b, int s) {
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      const auto row = Ops::Load(b + j * kLanes<float>);
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) Ops::Add(part[s][i][j], LaneAt<Dword>(a + i * t.a_row), row);
    }
  };
  const int64_t quarter = t.k / kParts;
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    const float* a = t.starts ? t.a + t.starts[segment] : t.a;
    const float* b = t.b + segment * t.k * kWidth;
    if (t.streams)
      for (int64_t k = 0; k < quarter; ++k)
#pragma GCC unroll 4
        for (int s = 0; s < kParts; ++s) add(a + s * quarter + k, b + (s * quarter + k) * kWidth, s);
    else
      for (int64_t k = 0; k < kParts * quarter; k += kParts)
#pragma GCC unroll 4
        for (int s = 0; s < kParts; ++s) add(a + k + s, b + (k + s) * kWidth, s);
    for (int64_t k = kParts * quarter; k < t.k; ++k) add(a + k, b + k * kWidth, 0);
  }
#pragma GCC unroll 4
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = (part[0][i][j] + part[1][i][j]) + (part[2][i][j] + part[3][i][j]);
}

// Returns the address of element `at` of a bf16 array.
inline const void* Bf16At(const float* p, int64_t at) { return reinterpret_cast<const char*>(p) + 2 * at; }
inline float* Bf16At(float* p, int64_t at) {
  return reinterpret_cast<float*>(reinterpret_cast<char*>(p) + 2 * at);
}

// Applies the epilogue of the tile and stores the sums. kFull means that the last vector of columns is full.
template <class Ops, bool kFull, int R, int N> inline void Finish(const Tile& t, Floats (&sum)[R][N]) {
  constexpr bool kBf16 = Ops::kPerLane == 2;  // c and residual may be bf16 in memory
  constexpr int lanes = kLanes<float>;
  const int64_t last = kFull ? lanes : t.columns - (N - 1) * lanes;
  auto load = [&](const float* p, int j) {
    return kFull || j < N - 1 ? LoadVector(p + j * lanes) : LoadPart(p + j * lanes, last);
  };
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    if (t.accumulate)
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] += load(t.c + i * t.c_row, j);
    if (t.bias) {
      const Floats bias = load(t.bias, j);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] += bias;
    }
    const bool full = kFull || j < N - 1;
    if (kBf16 && t.residual && t.bf16_residual) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const void* from = Bf16At(t.residual, i * t.residual_row + j * lanes);
        sum[i][j] += full ? LoadBf16(from) : LoadBf16(from, last);
      }
    } else if (t.residual) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] += load(t.residual + i * t.residual_row, j);
    }
    if (t.clip)
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] = AtMost(AtLeast(sum[i][j], t.low), t.high);
    if (kBf16 && t.bf16_c) {
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        float* to = Bf16At(t.c, i * t.c_row + j * lanes);
        if (full)
          StoreBf16(to, sum[i][j]);
        else
          StoreBf16Part(to, sum[i][j], last);
      }
      continue;
    }
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      float* to = t.c + i * t.c_row + j * lanes;
      if (full)
        StoreVector(to, sum[i][j]);
      else
        StorePart(to, sum[i][j], last);
    }
  }
}

#if defined(__AVX512F__)
// If at most half of the last vector is used, it is computed as a 256-bit vector. This is faster on
// processors that execute 512-bit operations in two steps, and not slower on others.
constexpr int kHalf = kLanes<float> / 2;
typedef float Halves __attribute__((vector_size(kVectorBytes / 2)));

inline Halves LoadHalf(const float* p, __mmask8 mask) { return Halves(_mm256_maskz_loadu_ps(mask, p)); }

// Does the same as Finish for the 256-bit vector of columns that starts at `at`.
template <class Ops, int R> inline void FinishHalf(const Tile& t, int at, Halves (&sum)[R]) {
  constexpr bool kBf16 = Ops::kPerLane == 2;
  const auto mask = static_cast<__mmask8>((1u << (t.columns - at)) - 1);
  if (t.accumulate)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += LoadHalf(t.c + i * t.c_row + at, mask);
  if (t.bias) {
    const Halves bias = LoadHalf(t.bias + at, mask);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += bias;
  }
  if (kBf16 && t.residual && t.bf16_residual) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      const __m128i bits = _mm_maskz_loadu_epi16(mask, Bf16At(t.residual, i * t.residual_row + at));
      sum[i] += Halves(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
    }
  } else if (t.residual) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += LoadHalf(t.residual + i * t.residual_row + at, mask);
  }
  if (t.clip)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      sum[i] = sum[i] < t.low ? Halves{} + t.low : sum[i];
      sum[i] = sum[i] > t.high ? Halves{} + t.high : sum[i];
    }
  if (kBf16 && t.bf16_c) {
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      float* to = Bf16At(t.c, i * t.c_row + at);
#if defined(__AVX512BF16__)
      const auto bits = __m128i(_mm256_cvtneps_pbh(__m256(sum[i])));
      if (t.columns - at == kHalf)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bits);
      else
        _mm_mask_storeu_epi16(to, mask, bits);
#else
      Floats full = {};
      __builtin_memcpy(&full, &sum[i], sizeof sum[i]);
      StoreBf16Part(to, full, t.columns - at);
#endif
    }
    return;
  }
  if (t.columns - at == kHalf)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) __builtin_memcpy(t.c + i * t.c_row + at, &sum[i], sizeof sum[i]);
  else
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) _mm256_mask_storeu_ps(t.c + i * t.c_row + at, mask, __m256(sum[i]));
}

// Computes tiles of W full vectors and one 256-bit vector of columns.
template <class Ops, int R, int W> void RunHalf(const Tile& t) {
  Floats sum[R][W ? W : 1];
  Halves half[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    half[i] = Halves{};
#pragma GCC unroll 4
    for (int j = 0; j < W; ++j) sum[i][j] = Floats{};
  }
  const float* b = t.b;
  for (int64_t segment = 0; segment < t.segments; ++segment) {
    RowPointers<typename Ops::Dword, R> rows(t.starts ? t.a + t.starts[segment] : t.a, t.a_row * 4);
    for (int64_t k = t.k; k > 0; --k, b += kWidth) {
      rows.Settle();
      typename Ops::Row row[W ? W : 1];
#pragma GCC unroll 4
      for (int j = 0; j < W; ++j) row[j] = Ops::Load(b + j * kLanes<float>);
      const auto last = Ops::LoadHalf(b + W * kLanes<float>);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const auto x = rows.At(i, 0);
        Ops::AddHalf(half[i], x, last);
#pragma GCC unroll 4
        for (int j = 0; j < W; ++j) Ops::Add(sum[i][j], x, row[j]);
      }
      rows.Advance(1);
    }
  }
  if constexpr (W > 0) Finish<Ops, true>(t, sum);
  FinishHalf<Ops>(t, W * kLanes<float>, half);
}
#endif

template <class Ops, int R, int N> void RunVectors(const Tile& t) {
#if defined(__AVX512F__)
  if constexpr (R > 4)
    if (t.columns <= (N - 1) * kLanes<float> + kHalf) return RunHalf<Ops, R, N - 1>(t);
#endif
  Floats sum[R][N];
  if constexpr (R * N <= 4) {
    if (t.few_rows)
      MultiplyFewRows<Ops>(t, sum);
    else
      Multiply<Ops>(t, sum);
  } else {
    Multiply<Ops>(t, sum);
  }
  if (t.columns == N * kLanes<float>)
    Finish<Ops, true>(t, sum);
  else
    Finish<Ops, false>(t, sum);
}

template <class Ops, int R, int N = kVectors> void Run(const Tile& t) {
  if constexpr (N > 1)
    if (t.columns <= (N - 1) * kLanes<float>) return Run<Ops, R, N - 1>(t);
  RunVectors<Ops, R, N>(t);
}

template <class Ops, int R = kRows> constexpr void Fill(TileTable& table) {
  table.run[R] = Run<Ops, R>;
  if constexpr (R > 1) Fill<Ops, R - 1>(table);
}

template <class Ops> constexpr TileTable TableOf() {
  TileTable table{kRows, kWidth,    kGranule,         1,        Ops::kPerLane, 1, 4,
                  {},    Ops::Pack, Ops::PackNearest, Ops::Copy};
  Fill<Ops>(table);
  return table;
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
