#include "kernels/cpu/byte/byte_tile.h"

#include "kernels/cpu/gemm/tile_products.h"
#include "kernels/cpu/simd/amx.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

#if TERN_AMX_PRODUCTS
// Tiles of up to kVectorRows rows are computed in vectors, because a tile register would be almost empty.
ByteTileTable TableOfAmx(const ByteTileRuns& tiles) {
  constexpr int kVectorRows = 2;
  ByteTileTable table = avx512_vnni::kByteTileVectorsPlain;
  table.rows = kMaxByteRows, table.row_granule = 16;
  table.granule = 16, table.dot_cost = kAmxDotCost, table.overhead = kAmxOverhead;
  for (int i = kVectorRows + 1; i <= kMaxByteRows; ++i) table.run[i] = tiles.run[i];
  return table;
}
#endif

}  // namespace

const ByteTileTable& ByteTileSimd() {
#if TERN_AMX_PRODUCTS
  if (const AmxMode mode = ActiveAmx(); mode != AmxMode::kOff && ActiveVnni()) {
    static const ByteTileTable amx = TableOfAmx(avx512_amx::kByteTileAmx),
                               emulated = TableOfAmx(avx512_amx::kByteTileEmulated);
    return mode == AmxMode::kOn ? amx : emulated;
  }
#endif
  return ByteTileVectors();
}

double ByteTileTable::Products(int64_t m, int64_t n, int64_t dwords) const {
  return dot_cost * TileProducts(TileSize{rows, granule, row_granule, overhead}, m, n, dwords);
}

void ByteTileTable::RunRows(ByteTile tile, int64_t count) const {
  const TileScope scope;
  const EvenSplit tiles(count, rows);
  const int64_t width = OutputWidth(*tile.epilogue);
  for (int64_t i = 0; i < tiles.parts(); ++i) {
    const int64_t height = tiles.Size(i);
    run[height](tile);
    tile.a += height * tile.a_row;
    tile.c = static_cast<char*>(tile.c) + height * tile.c_row * width;
    if (tile.residual)
      tile.residual = static_cast<const char*>(tile.residual) + height * tile.epilogue->residual_row * width;
    if (tile.prefetch) tile.prefetch += tile.k * tile.prefetch_step;
  }
}

}  // namespace tern::cpu
