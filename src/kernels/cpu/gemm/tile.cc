#include "kernels/cpu/gemm/tile.h"

#include <algorithm>
#include <iterator>

#include "base/selection.h"
#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/simd/bf16.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/element_at.h"

namespace tern::cpu {
namespace {

#if TERN_AMX_PRODUCTS
// All tiles are computed in tile registers, so that the order of additions does not depend on the height of a
// tile.
TileTable TableOfAmx(const TileRuns& tiles) {
  TileTable table = avx512_bf16::kTileBf16Simd;
  table.rows = kMaxTileRows, table.row_granule = 16;
  table.granule = 16, table.dot_cost = kAmxDotCost, table.overhead = kAmxOverhead;
  std::copy(std::begin(tiles.run), std::end(tiles.run), table.run);
  return table;
}

const TileTable& AmxTable(AmxMode mode) {
  static const TileTable amx = TableOfAmx(avx512_amx::kTileAmx),
                         emulated = TableOfAmx(avx512_amx::kTileEmulated);
  return mode == AmxMode::kOn ? amx : emulated;
}
#endif

}  // namespace

const TileTable& TileFor(Operands operands) {
  if (operands == Operands::kF32 || !kHasBf16Kernels) return TileSimd();
#if TERN_BF16_PRODUCTS
  if (ActiveBf16Products()) {
    const AmxMode mode = ActiveAmx();
    return mode == AmxMode::kOff ? avx512_bf16::kTileBf16Simd : AmxTable(mode);
  }
#endif
  return TileBf16Simd();
}

void TileTable::RunRows(Tile tile, int64_t count) const {
  const TileScope scope;
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
