// Tiles of 8-bit products in AMX registers. This file is compiled with -ffp-contract=off, as
// byte_tile_vnni_simd.cc.
#include "kernels/cpu/byte/byte_finish-inl.h"
#include "kernels/cpu/gemm/tile_blocks-inl.h"

namespace tern::cpu::TERN_SIMD {
namespace {

constexpr int kFinishedRows = 8;  // rows whose sums are in registers while the epilogue is applied

struct ByteDot {
  template <int C, int A, int B, class Tiles> static void Add(Tiles& tiles) {
    tiles.template DotBytes<C, A, B>();
  }
};

// Applies the epilogue to R rows, and advances the tile and the sums to the next rows.
template <int R, int N> void FinishNext(ByteTile& t, const int32_t*& sums) {
  Ints sum[R][N];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 2
    for (int j = 0; j < N; ++j) sum[i][j] = LoadVector(sums + i * kWidth + j * kLane);
  Finish<kFinishedRows>(t, sum);
  const int64_t width = t.epilogue->output == ByteOutput::kBytes ? 1 : 4;
  sums += R * kWidth;
  t.c = static_cast<char*>(t.c) + R * t.c_row * width;
  if (t.residual) t.residual = static_cast<const char*>(t.residual) + R * t.epilogue->residual_row * width;
}

template <int N> void FinishBlock(ByteTile t, const int32_t* sums, int rows) {
  for (; rows >= kFinishedRows; rows -= kFinishedRows) FinishNext<kFinishedRows, N>(t, sums);
  if (rows & 4) FinishNext<4, N>(t, sums);
  if (rows & 2) FinishNext<2, N>(t, sums);
  if (rows & 1) FinishNext<1, N>(t, sums);
}

template <class Tiles> [[gnu::noinline]] void RunRows(const ByteTile& t, int rows) {
  static_assert(kWidth == kBlockColumns);
  alignas(64) int32_t bias[kBlockColumns];
  if (t.epilogue->bias)
    for (int j = 0; j < kWidth; j += kLane) {
      const int64_t columns = MinOf<int64_t>(kLane, t.columns - j);
      StoreVector(bias + j, columns > 0 ? LoadInts(t.epilogue->bias + t.column + j, columns) : Ints{});
    }
  const auto* a = reinterpret_cast<const char*>(t.a);
  const TileOperands operands{a,
                              t.a_row,
                              reinterpret_cast<const char*>(t.b),
                              t.k,
                              t.segments,
                              t.starts,
                              1,
                              reinterpret_cast<const char*>(t.prefetch),
                              t.prefetch_step};
  BlockSums<int32_t> sums;
  MultiplyBlock<Tiles, ByteDot>(operands, rows, t.columns, true, t.epilogue->bias ? bias : nullptr, sums);
  if (t.columns > kLane)
    FinishBlock<2>(t, sums.sums, rows);
  else
    FinishBlock<1>(t, sums.sums, rows);
}

template <class Tiles, int R> void RunHeight(const ByteTile& t) { RunRows<Tiles>(t, R); }

template <class Tiles, int R = kMaxByteRows> constexpr void Fill(ByteTileRuns& runs) {
  runs.run[R] = RunHeight<Tiles, R>;
  if constexpr (R > 1) Fill<Tiles, R - 1>(runs);
}
template <class Tiles> constexpr ByteTileRuns RunsOf() {
  ByteTileRuns runs{};
  Fill<Tiles>(runs);
  return runs;
}

}  // namespace

const ByteTileRuns kByteTileAmx = RunsOf<TileRegisters>(), kByteTileEmulated = RunsOf<EmulatedTiles>();

}  // namespace tern::cpu::TERN_SIMD
