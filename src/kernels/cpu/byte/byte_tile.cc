#include "kernels/cpu/byte/byte_tile.h"

#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {

void ByteTileTable::RunRows(ByteTile tile, int64_t count) const {
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
