#include "kernels/cpu/gemm/tile_products.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {

double TileProducts(const TileSize& tile, int64_t m, int64_t n, int64_t dwords) {
  constexpr double kFullRows = 4.5;  // rows from which a tile runs at full speed
  if (m <= 0 || n <= 0) return 0;
  const int64_t tiles = CeilDiv(m, tile.rows);
  const double height = static_cast<double>(m) / static_cast<double>(tiles),
               busy = std::max(height, std::min(kFullRows, 0.8 * tile.rows)),
               whole = tile.row_granule == 1
                           ? busy
                           : static_cast<double>(RoundUp(CeilDiv(m, tiles), tile.row_granule));
  const auto columns = static_cast<double>(RoundUp(n, tile.granule));
  return static_cast<double>(tiles) * whole * columns * (static_cast<double>(dwords) + tile.overhead);
}

}  // namespace tern::cpu
