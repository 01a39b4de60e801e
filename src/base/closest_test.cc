#include "base/closest.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(Closest, CountsChanges) {
  EXPECT_EQ(EditDistance("", "ab"), 2u);
  EXPECT_EQ(EditDistance("softmax", "sofmax"), 1u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("sevre", "serve"), 1u);
  EXPECT_EQ(EditDistance("ab", "ba"), 1u);
  EXPECT_EQ(EditDistance("abcd", "badc"), 2u);
  EXPECT_EQ(EditDistance("ca", "abc"), 3u);  // swapped characters are not changed again
}

TEST(Closest, IsTheNearestNameOrNone) {
  const std::vector<std::string> known{"resize", "crop", "normalise"};
  EXPECT_EQ(*Closest("normalize", known), "normalise");
  EXPECT_EQ(*Closest("crp", known), "crop");
  EXPECT_EQ(Closest("tokenize", known), nullptr);
  EXPECT_EQ(Closest(std::string(64, 'x'), known), nullptr);
}

}  // namespace
}  // namespace tern
