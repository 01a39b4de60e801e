#include "kernels/cpu/support/cut.h"

#include <gtest/gtest.h>

namespace tern::cpu {
namespace {

TEST(Cut, RoundsUp) {
  EXPECT_EQ(CeilDiv(0, 4), 0);
  EXPECT_EQ(CeilDiv(8, 4), 2);
  EXPECT_EQ(CeilDiv(9, 4), 3);
  EXPECT_EQ(RoundUp(9, 4), 12);
  EXPECT_EQ(Rounded(17), 32);
  EXPECT_EQ(Aligned(1), size_t{64});
  EXPECT_EQ(Aligned(128), size_t{128});
}

TEST(Cut, SeesRowsThatCollide) {
  EXPECT_TRUE(Collide(512));
  EXPECT_FALSE(Collide(256));
  EXPECT_TRUE(Collide(256, 1024));
  EXPECT_FALSE(Collide(512 + 16));
}

TEST(Cut, SpacesRowsThatWouldCollide) {
  EXPECT_EQ(Spaced(0), 16);
  EXPECT_EQ(Spaced(100), 112);
  EXPECT_EQ(Spaced(505), 528) << "whole lines of it collide, it does not";
  for (int64_t row = 1; row < 5000; ++row) {
    EXPECT_FALSE(Collide(Spaced(row))) << row;
    EXPECT_GE(Spaced(row), row);
    EXPECT_EQ(Spaced(row) % 16, 0);
  }
}

// Rows of one position, in lines: no two of 12 neighbouring tiles share a set.
TEST(Cut, SpreadsTilesOverTheSetsOfACache) {
  for (int64_t floats : {1, 16, 17, 64, 100, 512})
    for (int64_t positions : {16, 36, 64, 130}) {
      const int64_t position = PositionStep(floats), tile = TileStep(position, positions);
      EXPECT_GE(position, floats);
      EXPECT_GE(tile, position * positions);
      for (int64_t i = 1; i < 12; ++i) EXPECT_NE(i * tile / 16 % 64, 0) << floats << ", " << positions;
    }
}

TEST(Cut, GivesPartsWholeUnits) {
  EXPECT_EQ(PartOf(100, 60, 8), 56);
  EXPECT_EQ(PartOf(0, 60, 8), 8);
  EXPECT_EQ(PartOf(60, 60, 1), 60);
}

TEST(Cut, CutsEvenly) {
  for (int64_t most : {1, 3, 14})
    for (int64_t count = 0; count < 60; ++count) {
      const EvenCut cut(count, most);
      EXPECT_EQ(cut.pieces(), CeilDiv(count, most));
      int64_t at = 0;
      for (int64_t i = 0; i < cut.pieces(); ++i) {
        EXPECT_EQ(cut.Start(i), at);
        EXPECT_LE(cut.Size(i), most);
        EXPECT_GE(cut.Size(i), cut.Size(cut.pieces() - 1));
        EXPECT_LE(cut.Size(i), cut.Size(cut.pieces() - 1) + 1);
        at += cut.Size(i);
      }
      EXPECT_EQ(at, count);
    }
}

}  // namespace
}  // namespace tern::cpu
