// Applies the epilogue of a ByteTile to sums in registers, for *_simd.cc files that are compiled with
// -ffp-contract=off.
#pragma once
#include "kernels/cpu/byte/byte_epilogue-inl.h"
#include "kernels/cpu/byte/byte_tile.h"
#include "kernels/cpu/byte/tile_rounding-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kVectors = 2, kLane = kLanes<float>, kWidth = kVectors * kLane;

#if defined(__SSE2__)
// Rounds full vectors of sums of rows from `kFirst` on to 8 bits. kResidual means
// ByteResidual::kBeforeRounding.
template <bool kResidual, int kFirst = 0, int R, int N>
inline void FinishInRegisters(const ByteTile& t, const Lanes<kVectorBytes>::Range& range, Ints (&sum)[R][N]) {
  if constexpr (kFirst < R) {
    constexpr int kNext = kFirst + 4 / N < R ? kFirst + 4 / N : R;
    const ByteEpilogue& e = *t.epilogue;
    const ByteReader read(e.residual_type, e.residual_zero);
    Lanes<kVectorBytes>::Raw rounded[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int row = kFirst + i / N, j = i % N;
      if (row >= R) {
        rounded[i] = rounded[0];
        continue;
      }
      Floats v = ToFloats(sum[row < R ? row : 0][j]) * LoadVector(e.scale + t.column + j * kLane);
      if constexpr (kResidual) {
        const auto* residual = static_cast<const uint8_t*>(t.residual) + row * e.residual_row + j * kLane;
        v += read(LoadBytes(residual)) * e.residual_ratio;
      }
      rounded[i] = Lanes<kVectorBytes>::Rounded(v);
    }
    StoreRounded<N, kNext - kFirst>(rounded, range, static_cast<uint8_t*>(t.c) + kFirst * t.c_row, t.c_row);
    FinishInRegisters<kResidual, kNext>(t, range, sum);
  }
}
#endif

// Copies n bytes, 0 <= n < 2 * kBytes.
template <int kBytes = kWidth / 2> inline void CopyFew(const uint8_t* from, int64_t n, uint8_t* to) {
  if (n & kBytes) {
    __builtin_memcpy(to, from, kBytes);
    from += kBytes, to += kBytes;
  }
  if constexpr (kBytes > 1) CopyFew<kBytes / 2>(from, n, to);
}

// A tile whose last vector of columns is partly used. It is rounded in a buffer with full vectors.
template <int kRows> struct PartTile {
  ByteTile tile;
  ByteEpilogue e;
  float scale[kWidth];
  uint8_t residual[kRows * kWidth], c[kRows * kWidth];

  [[gnu::noinline]] const ByteTile& Prepare(const ByteTile& t, int rows) {
    tile = t, e = *t.epilogue;
    for (int64_t j = 0; j < kWidth; j += kLane) {
      const int64_t columns = MaxOf<int64_t>(0, MinOf<int64_t>(kLane, t.columns - j));
      StoreVector(scale + j, LoadPart(e.scale + t.column + (columns ? j : 0), columns));
    }
    if (t.residual)
      for (int i = 0; i < rows; ++i)
        CopyFew(static_cast<const uint8_t*>(t.residual) + i * e.residual_row, t.columns,
                residual + i * kWidth);
    e.scale = scale, e.residual_row = kWidth;
    tile.epilogue = &e, tile.column = 0, tile.residual = residual, tile.c = c, tile.c_row = kWidth;
    return tile;
  }
  [[gnu::noinline]] void CopyResults(const ByteTile& t, int rows) const {
    for (int i = 0; i < rows; ++i)
      CopyFew(c + i * kWidth, t.columns, static_cast<uint8_t*>(t.c) + i * t.c_row);
  }
};

// Finishes sums of `rows` rows, [rows][kWidth].
inline void FinishRows(const ByteTile& t, const int32_t* sums, int rows) {
  const ByteEpilogue& e = *t.epilogue;
  const int64_t width = e.output == ByteOutput::kBytes ? 1 : 4;
  auto* c = static_cast<uint8_t*>(t.c);
  const auto* residual = static_cast<const uint8_t*>(t.residual);
  for (int i = 0; i < rows; ++i)
    FinishRow(e,
              {t.column, residual ? residual + i * e.residual_row * width : nullptr, c + i * t.c_row * width},
              sums + i * kWidth, t.columns);
}

// Applies the epilogue to the sums of R rows, and stores the results. R must be at most kRows.
template <int kRows, int R, int N> inline void Finish(const ByteTile& t, Ints (&sum)[R][N]) {
#if defined(__SSE2__)
  if (t.rounds) {
    const Lanes<kVectorBytes>::Range range(t.to);
    PartTile<kRows> part;
    const bool full = t.columns == N * kLane;
    const ByteTile& tile = full ? t : part.Prepare(t, R);
    if (t.residual)
      FinishInRegisters<true>(tile, range, sum);
    else
      FinishInRegisters<false>(tile, range, sum);
    if (!full) part.CopyResults(t, R);
    return;
  }
#endif
  int32_t sums[R * kWidth];
#pragma GCC unroll 16
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) StoreVector(sums + i * kWidth + j * kLane, sum[i][j]);
  FinishRows(t, sums, R);
}

}  // namespace
}  // namespace tern::cpu::TERN_SIMD
