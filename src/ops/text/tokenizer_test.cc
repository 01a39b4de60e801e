#include "ops/test_graph.h"

namespace tern {
namespace {

using Texts = std::vector<std::string>;

Texts Tokens(const std::string& text, const AttrList& attrs) {
  return ToStrings(OutputOf("Tokenizer", {Tensor::Strings({1}, {text})}, attrs));
}
Texts ByToken(const char* token, const std::string& text) { return Tokens(text, {{"token", token}}); }
Texts Between(const Texts& separators, const std::string& text) {
  return Tokens(text, {{"separators", separators}});
}

TEST(Tokenizer, FindsTheLeftmostLongest) {
  EXPECT_EQ(ByToken("a|ab", "ab ab"), (Texts{"ab", "ab"}));
  EXPECT_EQ(ByToken("[a-zA-Z0-9_]+", "Tern, gull-3"), (Texts{"Tern", "gull", "3"}));
  EXPECT_EQ(ByToken("a+?", "aab"), (Texts{"aa"}));
  EXPECT_EQ(ByToken("abcd|b", "abcx"), (Texts{"b"}));
  EXPECT_EQ(ByToken("a*b?", "xaabx"), (Texts{"aab"}));
  EXPECT_EQ(ByToken(".+", "a b\nbc"), (Texts{"a b", "bc"}));
  EXPECT_EQ(ByToken("\\b[a-z]", "a b\nbc"), (Texts{"a", "b", "b"}));
  EXPECT_EQ(ByToken("\\Bb", "bbb"), (Texts{"b", "b"}));
  EXPECT_EQ(ByToken("^b", "a b"), Texts{});
  EXPECT_EQ(ByToken("é|.", "aé"), (Texts{"a", "é"}));
  EXPECT_EQ(ByToken(".", "a\nb"), (Texts{"a", "\n", "b"}))
      << "the token '.' means every character, as in onnxruntime";
}

TEST(Tokenizer, CutsAtSeparatorsOneAfterTheOther) {
  EXPECT_EQ(Between({",", ";"}, "a,,b;c;"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Between({"[0-9]", "\\."}, "a.b1c"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Between({"b", "bc"}, "abcbd"), (Texts{"a", "c", "d"}));
  EXPECT_EQ(Between({"bc", "b"}, "abcbd"), (Texts{"a", "d"}));
  EXPECT_EQ(Between({"b*"}, "abcbd"), Texts{}) << "an empty match consumes one character";
  EXPECT_EQ(Between({"b", "^c"}, "abcdbc"), (Texts{"a", "d"})) << "anchors match at the ends of each part";
  EXPECT_EQ(Between({"d", "c$"}, "abcdbc"), (Texts{"ab", "b"}));
  EXPECT_EQ(Between({""}, "aé b"), (Texts{"a", "é", " ", "b"}));
}

TEST(Tokenizer, MarksAndFillsUp) {
  const Tensor x = Tensor::Strings({2, 2}, {"xx", "a", "aaba", ""});
  const Tensor y = OutputOf("Tokenizer", {x}, {{"token", "a+"}, {"mark", true}, {"pad", "#"}});
  EXPECT_EQ(y.dims(), (Dims{2, 2, 4}));
  EXPECT_EQ(ToStrings(y), (Texts{"\x02", "\x03", "#", "#", "\x02", "a", "\x03", "#",  //
                                 "\x02", "aa", "a", "\x03", "\x02", "\x03", "#", "#"}));
  const Tensor none =
      OutputOf("Tokenizer", {Tensor::Strings({2}, {"", "b"})}, {{"token", "a"}, {"mark", true}});
  EXPECT_EQ(none.dims(), (Dims{2, 0}));
  EXPECT_EQ(Tokens("ab c def é", {{"separators", Texts{" "}}, {"min_length", int64_t{2}}}),
            (Texts{"ab", "def"}));
}

TEST(Tokenizer, RefusesWhatItCannotDo) {
  const Tensor x = Tensor::Strings({1}, {"a"});
  const auto refused = [&](const AttrList& attrs, const char* words) {
    const auto got = EvaluateOp("Tokenizer", {x}, attrs);
    EXPECT_FALSE(got.ok());
    EXPECT_NE(got.status().message().find(words), std::string::npos) << got.status().message();
  };
  refused({}, "neither separators nor a token");
  refused({{"token", "("}}, "regular expression");
  refused({{"separators", Texts{"a", ""}}}, "one of 2 separators is empty");
  refused({{"separators", Texts{""}}, {"min_length", int64_t{2}}}, "tokens of one character");
  refused({{"token", "a"}, {"min_length", int64_t{0}}}, "min_length is 0");
  EXPECT_FALSE(EvaluateOp("Tokenizer", {Tensor::Strings({1, 1, 1}, {"a"})}, {{"token", "a"}}).ok());
}

}  // namespace
}  // namespace tern
