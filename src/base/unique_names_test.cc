#include "base/unique_names.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(UniqueNames, NumbersEqualNames) {
  UniqueNames names;
  EXPECT_EQ(names.Make("x"), "x");
  EXPECT_EQ(names.Make("x"), "x_1");
  EXPECT_EQ(names.Make("x_1"), "x_1_1");
  EXPECT_EQ(names.Make("x_2"), "x_2");
  EXPECT_EQ(names.Make("x"), "x_3");
  EXPECT_TRUE(names.Has("x_3"));
  EXPECT_FALSE(names.Has("x_4"));
  UniqueNames other("~");
  other.Make("x");
  EXPECT_EQ(other.Make("x"), "x~1");
}

// If UniqueNames did not store the last number of each name, this test would try 2 * 10^10 names.
TEST(UniqueNames, EqualNamesTakeLinearTime) {
  UniqueNames names;
  for (int i = 0; i < 200'000; ++i) names.Make("x");
  EXPECT_EQ(names.Make("x"), "x_200000");
}

}  // namespace
}  // namespace tern
