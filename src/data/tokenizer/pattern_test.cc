#include "data/tokenizer/pattern.h"

#include <gtest/gtest.h>

#include <random>

#include "data/tokenizer/scanners.h"

namespace tern::data {
namespace {

constexpr const char* kScanned[] = {
    kGpt2Expression,
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};

// Characters among which the expressions distinguish.
constexpr char32_t kCharacters[] = {' ',    ' ',    '\n',  '\r',    '\t',    'a',    'B',    's',    'S',
                                    't',    'r',    'e',   'v',     'l',     'L',    'm',    'd',    '\'',
                                    '\'',   '1',    '2',   '.',     '_',     0xa0,   0x85,   0xe9,   0x17f,
                                    0x301,  0x660,  0xbd,  0x3000,  0x6f22,  0x180e, 0x200d, 0x2028, 0x1c89,
                                    0xfffd, 0xe000, 0x378, 0x1f44d, 0x10d40, 0x13460};

std::string RandomText(std::mt19937& random) {
  std::string text;
  for (size_t n = random() % 24; n > 0; --n)
    AppendCodePoint(kCharacters[random() % std::size(kCharacters)], text);
  return text;
}

std::vector<ByteSpan> Matches(const Pattern& pattern, const std::string& text) {
  std::vector<ByteSpan> matches;
  const Status status = pattern.FindAll(text, matches);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return matches;
}

TEST(Pattern, ScannersEqualTheirExpressions) {
  for (const char* expression : kScanned) {
    ASSERT_TRUE(KnownScanner(expression));
    const auto scanner = CompilePattern(expression), pcre = CompilePattern(expression, false);
    ASSERT_TRUE(scanner.ok() && pcre.ok()) << pcre.status().ToString();
    std::mt19937 random(1);
    for (int i = 0; i < 20000; ++i) {
      const std::string text = RandomText(random);
      ASSERT_EQ(Matches(**scanner, text), Matches(**pcre, text)) << expression << "\n'" << text << "'";
    }
  }
}

TEST(Pattern, FindsEmptyMatches) {
  const auto pattern = CompilePattern("a*");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(Matches(**pattern, "baac"), (std::vector<ByteSpan>{{0, 0}, {1, 3}, {4, 4}}));
}

TEST(Pattern, RefusesWhatPcre2DoesNotHave) {
  for (const char* expression : {"[a&&b]", "[a[b]]", "(?~abc)", "[\\W]", "[\\P{L}]", "(*UTF)", "[[:print:]]"})
    EXPECT_EQ(CompilePattern(expression).status().code(), Code::kUnsupported) << expression;
  for (const char* expression : {"(", "a{2,1}", "\\p{Nothing}", "(?<=a*)b", "*"})
    EXPECT_EQ(CompilePattern(expression).status().code(), Code::kInvalidModel) << expression;
}

TEST(Pattern, SearchesLongTexts) {
  const auto pattern = CompilePattern("x+$|yz");
  ASSERT_TRUE(pattern.ok());
  std::string text(100000, 'y');
  text += "yz";
  EXPECT_EQ(Matches(**pattern, text), (std::vector<ByteSpan>{{100000, 100002}}));
}

}  // namespace
}  // namespace tern::data
