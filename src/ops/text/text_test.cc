#include "ops/test_graph.h"
#include "ops/text/utf8.h"

namespace tern {
namespace {

using Texts = std::vector<std::string>;
using Ints = std::vector<int64_t>;

TEST(Utf8, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(CodePoints("aé€😀"), (std::vector<uint32_t>{'a', 0xE9, 0x20AC, 0x1F600}));
  EXPECT_EQ(CodePoints("\xC0\x80"), (std::vector<uint32_t>{0xFFFD, 0xFFFD}));  // overlong
  EXPECT_EQ(CodePoints("\xE2\x82"), (std::vector<uint32_t>{0xFFFD, 0xFFFD}));  // truncated
  EXPECT_EQ(UpperText("straße, çà, я, ω"), "STRAßE, ÇÀ, Я, Ω");
  EXPECT_EQ(LowerText("ÄŽ Ѐ ĹŁ"), "äž ѐ ĺł");
  EXPECT_EQ(LowerText("ƠƯ Ẁ Ꭰ Ⴀ Ⓐ Ａ 𐐀 İ"), "ơư ẁ ꭰ ⴀ ⓐ ａ 𐐨 i");
  EXPECT_EQ(UpperText("ơư ÿ ſ ა ⓐ ａ 𐐨 ß"), "ƠƯ Ÿ S Ა Ⓐ Ａ 𐐀 ß");
  EXPECT_EQ(LowerText("日本 123 \U0001F600"), "日本 123 \U0001F600");
}

TEST(StringSplit, Cuts) {
  const Tensor x = Tensor::Strings({2}, {" a  b c ", ""});
  EXPECT_EQ(ToStrings(OutputOf("StringSplit", {x})), (Texts{"a", "b", "c", "", "", ""}));
  EXPECT_EQ(ToStrings(OutputOf("StringSplit", {x}, {{"max_splits", int64_t{1}}})),
            (Texts{"a", "b c ", "", ""}));
  const Tensor y = Tensor::Strings({1}, {"a,,b"});
  EXPECT_EQ(ToStrings(OutputOf("StringSplit", {y}, {{"delimiter", ","}})), (Texts{"a", "", "b"}));
  EXPECT_EQ(ToStrings(OutputOf("StringSplit", {y}, {{"delimiter", ","}, {"max_splits", int64_t{1}}})),
            (Texts{"a", ",b"}));
}

TEST(StringNormalizer, DropsAndChanges) {
  const Tensor x = Tensor::Strings({3}, {"The", "TERN", "é"});
  EXPECT_EQ(ToStrings(OutputOf("StringNormalizer", {x}, {{"stop_words", Texts{"the"}}, {"change", "upper"}})),
            (Texts{"TERN", "É"}));
  EXPECT_EQ(
      ToStrings(OutputOf("StringNormalizer", {x}, {{"stop_words", Texts{"the"}}, {"case_sensitive", true}})),
      (Texts{"The", "TERN", "é"}));
  EXPECT_EQ(ToStrings(OutputOf("StringNormalizer", {x}, {{"stop_words", Texts{"the", "tern", "É"}}})),
            (Texts{""}));
  EXPECT_FALSE(EvaluateOp("StringNormalizer", {Tensor::Strings({2, 1}, {"a", "b"})}).ok());
}

AttrList Grams() {
  return {{"mode", "tf"},
          {"min_length", int64_t{1}},
          {"max_length", int64_t{2}},
          {"max_skip", int64_t{1}},
          {"starts", Ints{0, 2}},
          {"places", Ints{2, 0, 1}},
          {"pool_ints", Ints{5, 6, 5, 6}}};
}

TEST(TfIdfVectorizer, CountsWithGaps) {
  const auto y = ToDoubles(OutputOf("TfIdfVectorizer", {Tensor::Ints({5, 5, 6, 7})}, Grams()));
  EXPECT_EQ(y, (std::vector<double>{1, 2, 2}));  // 6 occurs once, "5 6" twice (once with a gap), 5 twice
}

TEST(TfIdfVectorizer, BrokenPoolsAreRefused) {
  const auto refused = [](const char* name, AttrValue value) {
    AttrList attrs = Grams();
    for (auto& [key, old] : attrs)
      if (key == name) old = value;
    return !EvaluateOp("TfIdfVectorizer", {Tensor::Ints({5})}, attrs).ok();
  };
  EXPECT_FALSE(refused("mode", "idf"));
  EXPECT_TRUE(refused("starts", Ints{0, 1}));
  EXPECT_TRUE(refused("starts", Ints{0, 9}));
  EXPECT_TRUE(refused("starts", Ints{2, 0}));
  EXPECT_TRUE(refused("places", Ints{0, 1}));
  EXPECT_TRUE(refused("places", Ints{0, 1, -1}));
  EXPECT_TRUE(refused("places", Ints{0, 1, int64_t{1} << 40}));
  EXPECT_TRUE(refused("max_length", int64_t{3}));
  EXPECT_TRUE(refused("min_length", int64_t{0}));
  EXPECT_FALSE(refused("max_skip", INT64_MAX - 1));
}

}  // namespace
}  // namespace tern
