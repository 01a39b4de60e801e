#include "kernels/cpu/support/blocking.h"

#include <gtest/gtest.h>

namespace tern::cpu {
namespace {

TEST(Blocking, RoundsUp) {
  EXPECT_EQ(CeilDiv(0, 4), 0);
  EXPECT_EQ(CeilDiv(8, 4), 2);
  EXPECT_EQ(CeilDiv(9, 4), 3);
  EXPECT_EQ(RoundUp(9, 4), 12);
  EXPECT_EQ(LineAligned(17), 32);
  EXPECT_EQ(Aligned(1), size_t{64});
  EXPECT_EQ(Aligned(128), size_t{128});
}

TEST(Blocking, FindsRowsThatCollide) {
  EXPECT_TRUE(Collide(512));
  EXPECT_FALSE(Collide(256));
  EXPECT_TRUE(Collide(256, 1024));
  EXPECT_FALSE(Collide(512 + 16));
}

TEST(Blocking, PadsRowsThatWouldCollide) {
  EXPECT_EQ(PaddedRow(0), 16);
  EXPECT_EQ(PaddedRow(100), 112);
  EXPECT_EQ(PaddedRow(505), 528) << "rows of 505 floats do not collide, but rows of 512 do";
  for (int64_t row = 1; row < 5000; ++row) {
    EXPECT_FALSE(Collide(PaddedRow(row))) << row;
    EXPECT_GE(PaddedRow(row), row);
    EXPECT_EQ(PaddedRow(row) % 16, 0);
  }
}

// Rows of one position in 12 neighbouring tiles must not share a cache set.
TEST(Blocking, SpreadsTilesOverTheSetsOfACache) {
  for (int64_t floats : {1, 16, 17, 64, 100, 512})
    for (int64_t positions : {16, 36, 64, 130}) {
      const int64_t position = PositionStep(floats), tile = TileStep(position, positions);
      EXPECT_GE(position, floats);
      EXPECT_GE(tile, position * positions);
      for (int64_t i = 1; i < 12; ++i) EXPECT_NE(i * tile / 16 % 64, 0) << floats << ", " << positions;
    }
}

TEST(Blocking, PartSizesAreMultiplesOfTheUnit) {
  EXPECT_EQ(EvenPartSize(100, 60, 8), 56);
  EXPECT_EQ(EvenPartSize(0, 60, 8), 8);
  EXPECT_EQ(EvenPartSize(60, 60, 1), 60);
}

TEST(Blocking, SplitsEvenly) {
  for (int64_t max_part : {1, 3, 14})
    for (int64_t count = 0; count < 60; ++count) {
      const EvenSplit split(count, max_part);
      EXPECT_EQ(split.parts(), CeilDiv(count, max_part));
      int64_t at = 0;
      for (int64_t i = 0; i < split.parts(); ++i) {
        EXPECT_EQ(split.Start(i), at);
        EXPECT_LE(split.Size(i), max_part);
        EXPECT_GE(split.Size(i), split.Size(split.parts() - 1));
        EXPECT_LE(split.Size(i), split.Size(split.parts() - 1) + 1);
        at += split.Size(i);
      }
      EXPECT_EQ(at, count);
    }
}

}  // namespace
}  // namespace tern::cpu
