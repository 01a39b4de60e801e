#include "compress/quantize/grid.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tern::compress {
namespace {

TEST(Grid, CoversRangeAndZero) {
  for (const bool symmetric : {false, true})
    for (const int bits : {8, 16})
      for (const Range r : {Range{-1, 3}, Range{0, 6}, Range{2, 5}, Range{-7, -2}, Range{-1e-20, 1e-20}}) {
        const Grid g = GridOf(r, {bits, symmetric});
        EXPECT_EQ(g.Round(0), 0);
        const double slack = 0.501 * g.scale;
        EXPECT_LE(g.range().low, r.low + slack) << bits << " " << r.low;
        EXPECT_GE(g.range().high, r.high - slack) << bits << " " << r.high;
        EXPECT_GE(g.zero, g.lowest());
        EXPECT_LE(g.zero, g.highest());
      }
}

TEST(Grid, OneSidedRangesUseAllIntegers) {
  const Grid g = GridOf({0, 6}, {8, false});
  EXPECT_EQ(g.dtype, DType::kU8);
  EXPECT_EQ(g.zero, 0);
  EXPECT_FLOAT_EQ(g.scale, 6.0F / 255);
  EXPECT_EQ(GridOf({-6, 0}, {8, false}).zero, 255);
}

TEST(Grid, SymmetricHasItsZeroInTheMiddle) {
  EXPECT_EQ(GridOf({-1, 2}, {8, true}).zero, 128);
  EXPECT_FLOAT_EQ(GridOf({-1, 2}, {8, true}).scale, 2.0F / 127);
  const Grid wide = GridOf({-1, 2}, {16, true});
  EXPECT_EQ(wide.dtype, DType::kI16);
  EXPECT_EQ(wide.zero, 0);
}

TEST(Grid, SaturatesAndRoundsTiesToEven) {
  const Grid g{DType::kU8, 0.5F, 10};
  EXPECT_EQ(g.Quantize(1e9), 255);
  EXPECT_EQ(g.Quantize(-1e9), 0);
  EXPECT_EQ(g.Quantize(0.25), 10);  // 0.5 rounds to 0
  EXPECT_EQ(g.Quantize(0.75), 12);  // 1.5 rounds to 2
}

TEST(Grid, OfZerosHasScaleOne) { EXPECT_EQ(GridOf({0, 0}, {8, false}).scale, 1); }

}  // namespace
}  // namespace tern::compress
