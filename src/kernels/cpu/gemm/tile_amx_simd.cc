// Tiles of bf16 products in AMX registers.
#include "kernels/cpu/gemm/tile-inl.h"
#include "kernels/cpu/gemm/tile_blocks-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kFinishedRows = 8;  // rows whose sums are in registers while the epilogue is applied
constexpr int kLane = kLanes<float>;

struct Bf16Dot {
  static constexpr int kPerLane = 2;  // for Finish
  template <int C, int A, int B, class Tiles> static void Add(Tiles& tiles) {
    tiles.template DotBf16<C, A, B>();
  }
};

// Applies the epilogue to R rows, and advances the tile and the sums to the next rows.
template <bool kFull, int R, int N> void FinishNext(Tile& t, const float*& sums) {
  Floats sum[R][N];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < N; ++j) sum[i][j] = LoadVector(sums + i * kWidth + j * kLane);
  Finish<Bf16Dot, kFull>(t, sum);
  sums += R * kWidth;
  t.c = t.bf16_c ? Bf16At(t.c, R * t.c_row) : t.c + R * t.c_row;
  if (!t.residual) return;
  const int64_t step = R * t.residual_row;
  t.residual = t.bf16_residual ? static_cast<const float*>(Bf16At(t.residual, step)) : t.residual + step;
}

template <bool kFull, int N> void FinishBlock(Tile t, const float* sums, int rows) {
  for (; rows >= kFinishedRows; rows -= kFinishedRows) FinishNext<kFull, kFinishedRows, N>(t, sums);
  if (rows & 4) FinishNext<kFull, 4, N>(t, sums);
  if (rows & 2) FinishNext<kFull, 2, N>(t, sums);
  if (rows & 1) FinishNext<kFull, 1, N>(t, sums);
}

template <int N> void FinishColumns(const Tile& t, const float* sums, int rows) {
  if (t.columns == N * kLane)
    FinishBlock<true, N>(t, sums, rows);
  else
    FinishBlock<false, N>(t, sums, rows);
}

template <class Tiles> [[gnu::noinline]] void RunRows(const Tile& t, int rows) {
  static_assert(kWidth == kBlockColumns);
  const TileOperands operands{reinterpret_cast<const char*>(t.a),
                              4 * t.a_row,
                              reinterpret_cast<const char*>(t.b),
                              t.k,
                              t.segments,
                              t.starts,
                              4,
                              reinterpret_cast<const char*>(t.prefetch),
                              4 * t.prefetch_step};
  BlockSums<float> sums;
  MultiplyBlock<Tiles, Bf16Dot>(operands, rows, t.columns, t.few_rows, nullptr, sums);
  if (t.columns > kLane)
    FinishColumns<2>(t, sums.sums, rows);
  else
    FinishColumns<1>(t, sums.sums, rows);
}

template <class Tiles, int R> void RunHeight(const Tile& t) { RunRows<Tiles>(t, R); }

template <class Tiles, int R = kMaxTileRows> constexpr void Fill(TileRuns& runs) {
  runs.run[R] = RunHeight<Tiles, R>;
  if constexpr (R > 1) Fill<Tiles, R - 1>(runs);
}
template <class Tiles> constexpr TileRuns RunsOf() {
  TileRuns runs{};
  Fill<Tiles>(runs);
  return runs;
}

}  // namespace

const TileRuns kTileAmx = RunsOf<TileRegisters>(), kTileEmulated = RunsOf<EmulatedTiles>();

}  // namespace tern::cpu::TERN_SIMD
