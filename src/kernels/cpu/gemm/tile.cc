#include "kernels/cpu/gemm/tile.h"

#include "base/selection.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/element_at.h"

namespace tern::cpu {

const TileTable& TileFor(Operands operands) {
  if (operands == Operands::kF32 || !kHasBf16Kernels) return TileSimd();
#if TERN_BF16_PRODUCTS
  if (ActiveBf16Products()) return avx512_bf16::kTileBf16Simd;
#endif
  return TileBf16Simd();
}

void TileTable::RunRows(Tile tile, int64_t count) const {
  const EvenSplit tiles(count, rows);
  for (int64_t i = 0; i < tiles.parts(); ++i) {
    const int64_t height = tiles.Size(i);
    run[height](tile);
    tile.a += height * tile.a_row;
    tile.c = ElementAt(tile.c, height * tile.c_row, tile.bf16_c);
    if (tile.residual)
      tile.residual = ElementAt(tile.residual, height * tile.residual_row, tile.bf16_residual);
    if (tile.prefetch) tile.prefetch += tile.k * tile.prefetch_step;
  }
}

}  // namespace tern::cpu
