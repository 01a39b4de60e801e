#include "kernels/cpu/gemm/tile.h"

#include "kernels/cpu/simd/transpose-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// The register tile: sums, one row of b and one element of a fill the registers.
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

using Floats = Vector<float>;

// Tells the compiler that p may be anything here. Otherwise it keeps one pointer per row, more than there are
// registers, instead of using the addressing mode base + row step.
template <class T> inline void Hide(T& p) {
#if defined(__x86_64__)
  asm volatile("" : "+r"(p));
#else
  (void)p;
#endif
}

// Rows of a in groups of three: base, base + step, base + 2 * step.
template <int R> struct RowPointers {
  static constexpr int kGroups = (R + 2) / 3;
  const char* base[kGroups];
  int64_t step;

  RowPointers(const float* a, int64_t row) : step(row * static_cast<int64_t>(sizeof(float))) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) base[g] = reinterpret_cast<const char*>(a + 3 * g * row);
  }
  void Settle() {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) Hide(base[g]);
    Hide(step);
  }
  float At(int row, int64_t k) const {
    float v;
    __builtin_memcpy(&v, base[row / 3] + (row % 3) * step + k * 4, 4);
    return v;
  }
  void Advance(int64_t k) {
#pragma GCC unroll 8
    for (int g = 0; g < kGroups; ++g) base[g] += k * 4;
  }
};

template <int R, int N> inline void Multiply(const Tile& t, Floats (&sum)[R][N]) {
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = Floats{};
  const float* b = t.b;
  for (int64_t part = 0; part < t.parts; ++part) {
    RowPointers<R> rows(t.starts ? t.a + t.starts[part] : t.a, t.a_row);
    for (int64_t k = t.k; k > 0; --k, b += kWidth) {
      rows.Settle();
      Floats row[N];
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) row[j] = LoadVector(b + j * kLanes<float>);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const float x = rows.At(i, 0);
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) sum[i][j] += x * row[j];
      }
      rows.Advance(1);
    }
  }
}

// Few rows have too few sums to keep the multipliers busy: four steps of k side by side.
template <int R, int N> inline void MultiplyFew(const Tile& t, Floats (&sum)[R][N]) {
  constexpr int kSteps = 4;
  Floats part[kSteps][R][N];
#pragma GCC unroll 4
  for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) part[s][i][j] = Floats{};
  const float* b = t.b;
  for (int64_t piece = 0; piece < t.parts; ++piece) {
    const float* a = t.starts ? t.a + t.starts[piece] : t.a;
    int64_t k = 0;
    for (; k + kSteps <= t.k; k += kSteps, b += kSteps * kWidth)
#pragma GCC unroll 4
      for (int s = 0; s < kSteps; ++s)
#pragma GCC unroll 4
        for (int j = 0; j < N; ++j) {
          const Floats row = LoadVector(b + s * kWidth + j * kLanes<float>);
#pragma GCC unroll 4
          for (int i = 0; i < R; ++i) part[s][i][j] += a[i * t.a_row + k + s] * row;
        }
    for (; k < t.k; ++k, b += kWidth)
#pragma GCC unroll 4
      for (int j = 0; j < N; ++j) {
        const Floats row = LoadVector(b + j * kLanes<float>);
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) part[0][i][j] += a[i * t.a_row + k] * row;
      }
  }
#pragma GCC unroll 4
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) sum[i][j] = (part[0][i][j] + part[1][i][j]) + (part[2][i][j] + part[3][i][j]);
}

// What happens to the sums on their way to c. Whole: all vectors are full.
template <bool kWhole, int R, int N> inline void Finish(const Tile& t, Floats (&sum)[R][N]) {
  constexpr int lanes = kLanes<float>;
  const int64_t last = kWhole ? lanes : t.columns - (N - 1) * lanes;
  auto load = [&](const float* p, int j) {
    return kWhole || j < N - 1 ? LoadVector(p + j * lanes) : LoadPart(p + j * lanes, last);
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
    if (t.residual)
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] += load(t.residual + i * t.residual_row, j);
    if (t.clip)
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) sum[i][j] = AtMost(AtLeast(sum[i][j], t.low), t.high);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      float* to = t.c + i * t.c_row + j * lanes;
      if (kWhole || j < N - 1)
        StoreVector(to, sum[i][j]);
      else
        StorePart(to, sum[i][j], last);
    }
  }
}

#if defined(__AVX512F__)
// Where the last vector is at most half full it is half as wide: machines that do 512 bits in two steps gain
// the time, others lose nothing.
constexpr int kHalf = kLanes<float> / 2;
typedef float Halves __attribute__((vector_size(kVectorBytes / 2)));

inline Halves LoadHalf(const float* p, __mmask8 mask) { return Halves(_mm256_maskz_loadu_ps(mask, p)); }

// The half vector's part of Finish.
template <int R> inline void FinishHalf(const Tile& t, int at, Halves (&sum)[R]) {
  const auto mask = static_cast<__mmask8>((1u << (t.columns - at)) - 1);
  if (t.accumulate)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += LoadHalf(t.c + i * t.c_row + at, mask);
  if (t.bias) {
    const Halves bias = LoadHalf(t.bias + at, mask);
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += bias;
  }
  if (t.residual)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) sum[i] += LoadHalf(t.residual + i * t.residual_row + at, mask);
  if (t.clip)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) {
      sum[i] = sum[i] < t.low ? Halves{} + t.low : sum[i];
      sum[i] = sum[i] > t.high ? Halves{} + t.high : sum[i];
    }
  if (t.columns - at == kHalf)
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) __builtin_memcpy(t.c + i * t.c_row + at, &sum[i], sizeof sum[i]);
  else
#pragma GCC unroll 16
    for (int i = 0; i < R; ++i) _mm256_mask_storeu_ps(t.c + i * t.c_row + at, mask, __m256(sum[i]));
}

// W whole vectors and a half one.
template <int R, int W> void RunHalf(const Tile& t) {
  Floats sum[R][W ? W : 1];
  Halves half[R];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i) {
    half[i] = Halves{};
#pragma GCC unroll 4
    for (int j = 0; j < W; ++j) sum[i][j] = Floats{};
  }
  const float* b = t.b;
  for (int64_t part = 0; part < t.parts; ++part) {
    RowPointers<R> rows(t.starts ? t.a + t.starts[part] : t.a, t.a_row);
    for (int64_t k = t.k; k > 0; --k, b += kWidth) {
      rows.Settle();
      Floats row[W ? W : 1];
#pragma GCC unroll 4
      for (int j = 0; j < W; ++j) row[j] = LoadVector(b + j * kLanes<float>);
      Halves last;
      __builtin_memcpy(&last, b + W * kLanes<float>, sizeof last);
#pragma GCC unroll 16
      for (int i = 0; i < R; ++i) {
        const float x = rows.At(i, 0);
        half[i] += x * last;
#pragma GCC unroll 4
        for (int j = 0; j < W; ++j) sum[i][j] += x * row[j];
      }
      rows.Advance(1);
    }
  }
  if constexpr (W > 0) Finish<true>(t, sum);
  FinishHalf(t, W * kLanes<float>, half);
}
#endif

template <int R, int N> void RunVectors(const Tile& t) {
#if defined(__AVX512F__)
  if constexpr (R > 4)
    if (t.columns <= (N - 1) * kLanes<float> + kHalf) return RunHalf<R, N - 1>(t);
#endif
  Floats sum[R][N];
  if constexpr (R * N <= 4) {
    if (t.few)
      MultiplyFew(t, sum);
    else
      Multiply(t, sum);
  } else {
    Multiply(t, sum);
  }
  if (t.columns == N * kLanes<float>)
    Finish<true>(t, sum);
  else
    Finish<false>(t, sum);
}

template <int R, int N = kVectors> void Run(const Tile& t) {
  if constexpr (N > 1)
    if (t.columns <= (N - 1) * kLanes<float>) return Run<R, N - 1>(t);
  RunVectors<R, N>(t);
}

// Columns lie along memory: rows are read in vectors.
void PackAlong(const float* b, int64_t row, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int lanes = kLanes<float>;
  for (int64_t i = 0; i < k; ++i, b += row, to += kWidth)
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t left = columns - j * lanes;
      const Floats v = left >= lanes ? LoadVector(b + j * lanes)
                       : left > 0    ? LoadPart(b + j * lanes, left)
                                     : Floats{};
      StoreVector(to + j * lanes, factor * v);
    }
}

// Columns lie one behind the other: squares are turned over in registers.
void PackTurned(const float* b, int64_t column, int64_t k, int64_t columns, float factor, float* to) {
  constexpr int64_t lanes = kLanes<float>;
  for (int64_t i = 0; i < k; i += lanes)
    for (int64_t c = 0; c < kWidth; c += lanes) {
      const int64_t depth = Least(lanes, k - i), there = Greatest<int64_t>(0, Least(lanes, columns - c));
      float* block = to + i * kWidth + c;
      TransposeBlock(b + i + c * column, column, there, depth, block, kWidth,
                     [factor](Floats v) { return factor * v; });
      if (there == lanes) continue;
      for (int64_t r = 0; r < depth; ++r)
        for (int64_t e = there; e < lanes; ++e) block[r * kWidth + e] = 0;
    }
}

// Any steps; blocks of rows, so that each line of b is read once.
void PackAcross(const float* b, int64_t row, int64_t column, int64_t k, int64_t columns, float factor,
                float* to) {
  constexpr int64_t kAtOnce = 16;
  for (int64_t i = 0; i < k; i += kAtOnce) {
    const int64_t rows = Least(kAtOnce, k - i);
    for (int64_t c = 0; c < kWidth; ++c)
      for (int64_t r = 0; r < rows; ++r)
        to[(i + r) * kWidth + c] = c < columns ? factor * b[(i + r) * row + c * column] : 0.0f;
  }
}

void Pack(const float* b, int64_t row, int64_t column, int64_t k, int64_t n, float factor, float* to) {
  for (int64_t j = 0; j < n; j += kWidth, to += kWidth * k) {
    const int64_t columns = Least<int64_t>(kWidth, n - j);
    if (column == 1)
      PackAlong(b + j, row, k, columns, factor, to);
    else if (row == 1)
      PackTurned(b + j * column, column, k, columns, factor, to);
    else
      PackAcross(b + j * column, row, column, k, columns, factor, to);
  }
}

template <int R = kRows> constexpr void Fill(TileTable& table) {
  table.run[R] = Run<R>;
  if constexpr (R > 1) Fill<R - 1>(table);
}

constexpr TileTable Table() {
  TileTable table{kRows, kWidth, {}, Pack};
  Fill(table);
  return table;
}

}  // namespace

const TileTable kTileSimd = Table();

}  // namespace tern::cpu::TERN_SIMD
