#include "kernels/cpu/gemm/tile_products.h"

#include <algorithm>

#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {

double TileProducts(int rows, int granule, int64_t m, int64_t n, int64_t dwords) {
  constexpr double kTileOverhead = 4;  // overhead of a tile, in dwords of k
  constexpr double kFullRows = 4.5;    // rows from which a tile runs at full speed
  if (m <= 0 || n <= 0) return 0;
  const int64_t tiles = CeilDiv(m, rows);
  const double height = static_cast<double>(m) / static_cast<double>(tiles),
               busy = std::max(height, std::min(kFullRows, 0.8 * rows));
  const auto columns = static_cast<double>(RoundUp(n, granule));
  return static_cast<double>(tiles) * busy * columns * (static_cast<double>(dwords) + kTileOverhead);
}

}  // namespace tern::cpu
