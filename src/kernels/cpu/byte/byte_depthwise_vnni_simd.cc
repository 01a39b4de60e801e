// This file is compiled with -ffp-contract=off, so that every float operation is rounded.
#include "kernels/cpu/byte/byte_depthwise_vnni_simd.h"

#include "kernels/cpu/byte/byte_epilogue-inl.h"
#include "kernels/cpu/byte/lanes-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

// Maximum output pixels of a call. The sums of a call have four vectors per pixel and row.
#if defined(__AVX512F__)
constexpr int PixelsOf(int rows) { return 6 / rows; }
#else
constexpr int PixelsOf(int rows) { return 2 / rows; }
#endif

template <int W> using Sums = typename Lanes<W>::Ints[4];

template <int W> inline void Start(const ByteDepthwisePart& p, Sums<W>& sum) {
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) sum[v] = Lanes<W>::LoadInts(p.bias + v * (W / 4));
}

// Finishes sums that are not rounded in registers.
template <int W>
[[gnu::noinline]] void FinishSums(const ByteDepthwisePart& p, const int32_t* sums, int64_t row,
                                  int64_t pixel) {
  const ByteEpilogue& e = *p.epilogue;
  const int64_t width = e.output == ByteOutput::kBytes ? 1 : 4;
  const auto* residual = static_cast<const char*>(p.residual);
  if (residual) residual += (row * p.residual_image_row + pixel * e.residual_row + p.channel) * width;
  char* y = static_cast<char*>(p.y) + (row * p.y_row + pixel * p.y_pixel + p.channel) * width;
  FinishRow(e, {p.channel, residual, y}, sums, W);
}

template <int W>
inline void Finish(const ByteDepthwisePart& p, const Saturation& to, bool in_registers, const Sums<W>& sum,
                   int64_t row, int64_t pixel) {
  if (in_registers) {
    auto* y = static_cast<uint8_t*>(p.y) + row * p.y_row + pixel * p.y_pixel + p.channel;
    return Lanes<W>::Store(y, Lanes<W>::Requantize(sum, p.scale, to));
  }
  int32_t sums[W];
  Lanes<W>::StoreSums(sum, sums);
  FinishSums<W>(p, sums, row, pixel);
}

inline bool InRegisters(const ByteEpilogue& e) {
  return e.output == ByteOutput::kBytes && e.residual_mode == ByteResidual::kNone;
}

// Loads a quad: rows 4 * q to 4 * q + 3 of column j, and interleaves them.
template <int W, int kRows>
inline void LoadQuad(const ByteDepthwisePart& p, int q, int j, typename Lanes<W>::Bytes (&quad)[4]) {
  typename Lanes<W>::Bytes x[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const int row = 4 * q + i;
    x[i] = row < kRows ? Lanes<W>::Load(p.x[row * p.x_row + j] + p.channel) : typename Lanes<W>::Bytes{};
  }
  Lanes<W>::Interleave(x, quad);
}

// Computes R rows of T windows with kernel K and stride S. Each quad of a column is used by all windows that
// contain the column.
template <int W, int K, int S, int R, int T> void Windows(const ByteDepthwisePart& p) {
  constexpr int kColumns = (T - 1) * S + K, kRows = (R - 1) * S + K, kQuads = (kRows + 3) / 4;
  Sums<W> sum[R][T];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) Start<W>(p, sum[r][t]);
#pragma GCC unroll 16
  for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 2
    for (int q = 0; q < kQuads; ++q) {
      typename Lanes<W>::Bytes quad[4];
      LoadQuad<W, kRows>(p, q, j, quad);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
        for (int t = 0; t < T; ++t) {
          const int kx = j - t * S;
          const bool reads = r * S < 4 * (q + 1) && r * S + K > 4 * q;  // row r reads rows of this quad
          if (kx < 0 || kx >= K || !reads) continue;
          const int8_t* w = p.w + ((r * K + kx) * kQuads + q) * 4 * W;
#pragma GCC unroll 4
          for (int v = 0; v < 4; ++v) Lanes<W>::AddDot(sum[r][t][v], quad[v], w + v * W);
        }
    }
  const Saturation to(p.epilogue->to);
  const bool in_registers = InRegisters(*p.epilogue);
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 8
    for (int t = 0; t < T; ++t) Finish<W>(p, to, in_registers, sum[r][t], r, t);
}

template <int W, int T> void Any(const ByteDepthwisePart& p) {
  Sums<W> sum[T];
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) Start<W>(p, sum[t]);
  for (int64_t group = 0; group < p.groups; ++group)
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) {
      typename Lanes<W>::Bytes x[4], quad[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) x[i] = Lanes<W>::Load(p.x[(t * p.groups + group) * 4 + i] + p.channel);
      Lanes<W>::Interleave(x, quad);
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) Lanes<W>::AddDot(sum[t][v], quad[v], p.w + (group * 4 + v) * W);
    }
  const Saturation to(p.epilogue->to);
  const bool in_registers = InRegisters(*p.epilogue);
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) Finish<W>(p, to, in_registers, sum[t], 0, t);
}

template <int I, int K, int S, int R, int T> constexpr void FillPixels(ByteDepthwiseTable::Kind& kind) {
  kind.run[I][R][T] = Windows<(16 << I), K, S, R, T>;
  if constexpr (T > 1) FillPixels<I, K, S, R, T - 1>(kind);
}

// R is the number of output rows of a call.
template <int I, int K, int S, int R> constexpr void FillWidths(ByteDepthwiseTable::Kind& kind) {
  FillPixels<I, K, S, R, PixelsOf(R)>(kind);
  if constexpr (R > 1) FillPixels<I, K, S, 1, PixelsOf(R)>(kind);
  if constexpr (I > 0) FillWidths<I - 1, K, S, R>(kind);
}

constexpr int kWidest = kVectorBytes == 64 ? 2 : kVectorBytes == 32 ? 1 : 0;

template <int K, int S, int R> constexpr ByteDepthwiseTable::Kind KindOf() {
  ByteDepthwiseTable::Kind kind{K, S, R, PixelsOf(R), ((R - 1) * S + K + 3) / 4, {}};
  FillWidths<kWidest, K, S, R>(kind);
  return kind;
}

template <int I = kWidest> constexpr void FillAny(ByteDepthwiseTable& table) {
  table.any[I][1] = Any<(16 << I), 1>;
  table.any[I][2] = Any<(16 << I), 2>;
  if constexpr (I > 0) FillAny<I - 1>(table);
}

constexpr ByteDepthwiseTable TableOf() {
  ByteDepthwiseTable table{kVectorBytes, {KindOf<3, 1, 2>(), KindOf<3, 2, 1>(), KindOf<5, 1, 2>()}, {}};
  FillAny(table);
  return table;
}

}  // namespace

const ByteDepthwiseTable kByteDepthwiseSimdPlain = TableOf();

}  // namespace tern::cpu::TERN_SIMD
