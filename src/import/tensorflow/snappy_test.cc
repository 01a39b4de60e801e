#include "import/tensorflow/snappy.h"

#include <gtest/gtest.h>

namespace tern::tensorflow {
namespace {

using namespace std::string_literals;

TEST(Snappy, CopiesLiteralsAndRepeats) {
  // "abc", then 9 bytes from 3 bytes back.
  const auto text = Unsnappy("\x0c\x08"s + "abc" + "\x15\x03"s, 100);
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(*text, "abcabcabcabc");
  const std::string longer(70, 'x');
  const auto literal = Unsnappy("\x46\xf0\x45"s + longer, 100);
  ASSERT_TRUE(literal.ok()) << literal.status().ToString();
  EXPECT_EQ(*literal, longer);
  const auto wide = Unsnappy("\x06\x04"s + "ab" + "\x0e\x02\x00"s, 100);
  ASSERT_TRUE(wide.ok()) << wide.status().ToString();
  EXPECT_EQ(*wide, "ababab");
}

TEST(Snappy, RefusesBrokenBlocks) {
  for (const std::string& block :
       {""s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, "\x0c\x08"s + "ab", "\x05\x08"s + "abc",
        "\x0c\x15\x03"s, "\x0c\x08"s + "abc\x15\x04", "\x02\x08"s + "abc", "\x0c\x08"s + "abc\x16"})
    EXPECT_FALSE(Unsnappy(block, 100).ok());
  EXPECT_EQ(Unsnappy("\xe8\x07\x00"s, 100).status().message(),
            "a Snappy block of 1000 bytes is larger than the limit of 100");
}

}  // namespace
}  // namespace tern::tensorflow
