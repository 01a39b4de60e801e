#include "server/access/token.h"

#include <gtest/gtest.h>

#include <set>

namespace tern::server {
namespace {

TEST(Token, IsRandomAndFitsIntoAHeader) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto token = MakeToken();
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->size(), kTokenPrefix.size() + 43);
    EXPECT_TRUE(token->starts_with(kTokenPrefix));
    EXPECT_EQ(ParseBearer("Bearer " + *token), *token);
    EXPECT_TRUE(seen.insert(*token).second);
  }
}

TEST(Token, HashIsSha256) {
  const TokenHash hash = HashToken("abc");
  EXPECT_EQ(HashText(hash), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  ASSERT_TRUE(ParseHash(HashText(hash)));
  EXPECT_TRUE(SameHash(*ParseHash(HashText(hash)), hash));
  EXPECT_FALSE(SameHash(hash, HashToken("abd")));
  for (const char* bad : {"", "sha256:", "sha256:ba7816", "md5:ba78",
                          "sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
                          "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0"})
    EXPECT_FALSE(ParseHash(bad)) << bad;
}

TEST(Token, ParsesOnlyOneFormOfTheHeader) {
  EXPECT_EQ(ParseBearer("Bearer abc"), "abc");
  EXPECT_EQ(ParseBearer("bEARER a-b._~+/9=="), "a-b._~+/9==");
  for (const std::string bad :
       {"", "Bearer", "Bearer ", "Bearer  abc", "Bearer abc ", "Bearer\tabc", " Bearer abc", "Basic abc",
        "abc", "Bearer abc def", "Bearer abc,Bearer def", "Bearer a=b", "Bearer =", "Bearer a\"b",
        "Bearer a:b", "Bearer: abc", "BearerX abc", "Bearer \xC3\xA4"})
    EXPECT_FALSE(ParseBearer(bad)) << bad;
  EXPECT_FALSE(ParseBearer(std::string_view("Bearer abc\0", 11)));
  EXPECT_FALSE(ParseBearer(std::string_view("Bearer \0abc", 11)));
  EXPECT_TRUE(ParseBearer("Bearer " + std::string(kMaxTokenBytes, 'x')));
  EXPECT_FALSE(ParseBearer("Bearer " + std::string(kMaxTokenBytes + 1, 'x')));
}

}  // namespace
}  // namespace tern::server
