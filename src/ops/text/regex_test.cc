#include "ops/text/regex.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tern {
namespace {

bool Matches(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::Parse(pattern);
  EXPECT_TRUE(regex.ok()) << pattern << ": " << regex.status().ToString();
  return regex.ok() && regex->FullMatch(text);
}

TEST(Regex, MatchesEntireTextsOnly) {
  EXPECT_TRUE(Matches("ab|abc", "abc"));
  EXPECT_FALSE(Matches("ab", "abc"));
  EXPECT_FALSE(Matches("b", "ab"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_TRUE(Matches("a|", ""));
}

TEST(Regex, Repeats) {
  EXPECT_TRUE(Matches("a*b+c?", "aabb"));
  EXPECT_FALSE(Matches("a{2,3}", "a"));
  EXPECT_TRUE(Matches("a{2,3}", "aa"));
  EXPECT_FALSE(Matches("a{2,3}", "aaaa"));
  EXPECT_TRUE(Matches("(ab){2,}", "ababab"));
  EXPECT_TRUE(Matches("a{0}b", "b"));
  EXPECT_TRUE(Matches("a+?b*?", "aab"));
  EXPECT_TRUE(Matches("(a*)*", "aaa"));
  EXPECT_TRUE(Matches("x{,3}", "x{,3}"));  // "{,3}" is not a valid count, so it is literal
}

TEST(Regex, Sets) {
  EXPECT_TRUE(Matches("[a-c\\d_]+", "ab_9"));
  EXPECT_FALSE(Matches("[^a-c]", "b"));
  EXPECT_TRUE(Matches("[]a-]+", "]-a"));
  EXPECT_TRUE(Matches("[[:alpha:]][[:^digit:]]", "xy"));
  EXPECT_TRUE(Matches("\\w+@\\w+\\.(com|org)", "tern@gull.org"));
  EXPECT_FALSE(Matches("\\w", "é"));  // classes are ASCII
  EXPECT_TRUE(Matches("\\x41\\x{e9}\\101", "AéA"));
  EXPECT_TRUE(Matches("(?i)TÉRN", "térn"));
  EXPECT_FALSE(Matches("(?i)[^a]", "A"));
  EXPECT_TRUE(Matches("\\Qa.b\\E+", "a.b"));
  EXPECT_FALSE(Matches("\\Qa.b\\E", "axb"));
}

TEST(Regex, CodePointsAndLines) {
  EXPECT_TRUE(Matches("..", "éü"));
  EXPECT_TRUE(Matches("[à-ü]", "é"));
  EXPECT_TRUE(Matches(".", "\xff"));
  EXPECT_FALSE(Matches(".*", "a\nb"));
  EXPECT_TRUE(Matches("(?s).*", "a\nb"));
  EXPECT_TRUE(Matches("(?m)a$\n^b", "a\nb"));
  EXPECT_FALSE(Matches("a$\nb", "a\nb"));
  EXPECT_TRUE(Matches("\\bab\\b \\bcd\\B.", "ab cde"));
}

TEST(Regex, BadPatternsSayWhere) {
  for (const char* bad : {"(", ")", "a)", "[a", "*a", "a**", "a{3,2}", "a{2000}", "\\", "(?=a)", "(?<!a)b",
                          "\\1", "[z-a]", "\\pL", "(?P<n", "[[:no:]]"})
    EXPECT_FALSE(Regex::Parse(bad).ok()) << bad;
  EXPECT_NE(Regex::Parse("ab[c").status().message().find("character 4"), std::string::npos);
}

// These patterns would need exponential memory or time in other engines. They must be rejected, or matched in
// linear time.
TEST(Regex, HostilePatternsAreBounded) {
  EXPECT_FALSE(Regex::Parse("((a{1000}){1000}){1000}").ok());
  EXPECT_FALSE(Regex::Parse("(((){1000}){1000}){1000}").ok());
  EXPECT_FALSE(Regex::Parse(std::string(10000, '(')).ok());
  EXPECT_FALSE(Regex::Parse(std::string(200000, 'a')).ok());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(Matches("(a|aa|a*)*b", std::string(20000, 'a')));
  EXPECT_FALSE(Matches("(x+x+)+y", std::string(20000, 'x')));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace tern
