#include "kernels/cpu/gemm/tile_products.h"

#include "kernels/cpu/simd/level_test_support.h"
#include "kernels/cpu/support/blocking.h"

namespace tern::cpu {
namespace {

class TileProductLevels : public EachLevel {};
INSTANTIATE_TEST_SUITE_P(Simd, TileProductLevels, testing::ValuesIn(LevelsAndBf16Here()));

// The granule is one vector, half a vector with AVX-512, or a tile register.
TEST_P(TileProductLevels, CountColumnsThatAreComputed) {
  for (const Operands operands : {Operands::kF32, Operands::kBf16}) {
    const TileTable& table = TileFor(operands);
    const bool amx = IsAmx(GetParam()) && operands == Operands::kBf16;
    ASSERT_EQ(table.granule, amx ? 16 : ActiveSimd() >= SimdLevel::kAvx2 ? 8 : 4);
    ASSERT_EQ(table.columns % table.granule, 0);
    for (int64_t n = 1; n <= 2 * table.columns; ++n)
      EXPECT_EQ(TileProducts(table, 20, n, 64), TileProducts(table, 20, RoundUp(n, table.granule), 64)) << n;
    for (int64_t n = table.granule; n <= 2 * table.columns; n += table.granule)
      EXPECT_LT(TileProducts(table, 20, n, 64), TileProducts(table, 20, n + 1, 64)) << n;
  }
}

}  // namespace
}  // namespace tern::cpu
