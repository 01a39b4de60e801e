#include "data/tokenizer/tokenizer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tern::data {
namespace {

constexpr char kBert[] = R"({
  "version": "1.0",
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
  "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
  "added_tokens": [{"id": 9, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 10,
            "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "caf": 3, "##e": 4, "the": 5, "un": 6, "##known": 7, ".": 8}}})";

// A tokenizer of bytes with the given fields.
std::string Bytes(const std::string& fields) {
  return R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
             "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "\u0120": 5}, "merges": [["a", "b"], "ab c"]})" +
         fields + "}";
}

std::shared_ptr<const Tokenizer> Make(const std::string& json) {
  auto made = Tokenizer::Parse(json);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *made : nullptr;
}

std::string ErrorOf(const std::string& json) {
  const auto made = Tokenizer::Parse(json);
  return made.ok() ? "none" : made.status().ToString();
}

void ExpectError(const std::string& json, const std::string& part) {
  EXPECT_NE(ErrorOf(json).find(part), std::string::npos) << ErrorOf(json);
}

using Ids = std::vector<int64_t>;
using Offsets = std::vector<std::pair<size_t, size_t>>;

TEST(Tokenizer, EncodesWithOffsetsOfCharacters) {
  const auto t = Make(kBert);
  const auto e = t->Encode("The Café.[MASK] zz");
  ASSERT_TRUE(e.ok()) << e.status().ToString();
  EXPECT_EQ(e->ids, (Ids{1, 5, 3, 4, 8, 9, 0, 2}));
  EXPECT_EQ(e->offsets, (Offsets{{0, 0}, {0, 3}, {4, 7}, {7, 8}, {8, 9}, {9, 15}, {16, 18}, {0, 0}}));
  EXPECT_EQ(e->words, (Ids{-1, 0, 1, 1, 2, 3, 4, -1}));
  EXPECT_EQ(e->special_tokens_mask, (Ids{1, 0, 0, 0, 0, 0, 0, 1}));
  // Decode skips the tokens that added_tokens lists as special: [MASK], but not [CLS] and [SEP].
  EXPECT_EQ(*t->Decode(e->ids), "[CLS] the cafe. [UNK] [SEP]");
  EXPECT_EQ(*t->Decode(e->ids, false), "[CLS] the cafe. [MASK] [UNK] [SEP]");
}

TEST(Tokenizer, EncodesPairs) {
  const auto e = Make(kBert)->EncodePair("the", "cafe");
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e->ids, (Ids{1, 5, 2, 3, 4, 2}));
  EXPECT_EQ(e->type_ids, (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(e->sequence_ids, (Ids{-1, 0, -1, 1, 1, -1}));
}

TEST(Tokenizer, KnowsItsVocabulary) {
  const auto t = Make(kBert);
  EXPECT_EQ(t->vocabulary_size(), 10);
  EXPECT_EQ(t->TokenToId("[MASK]"), 9);
  EXPECT_EQ(t->TokenToId("nothing"), std::nullopt);
  EXPECT_EQ(t->IdToToken(7), "##known");
  EXPECT_EQ(t->IdToToken(-1), std::nullopt);
}

TEST(Tokenizer, PadsAndTruncatesBatches) {
  Truncation truncation{
      .max_length = 4, .stride = 0, .strategy = Truncation::Strategy::kLongestFirst, .side = Side::kRight};
  Padding padding{.id = 7, .token = "p"};
  const auto t = Make(kBert)->With(truncation, padding);
  ASSERT_TRUE(t.ok());
  const auto batch = (*t)->EncodeBatch({"the the the the", "the"});
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ((*batch)[0].ids, (Ids{1, 5, 5, 2}));
  EXPECT_EQ((*batch)[1].ids, (Ids{1, 5, 2, 7}));
  EXPECT_EQ((*batch)[1].attention_mask, (Ids{1, 1, 1, 0}));
}

TEST(Tokenizer, RefusesTruncationBelowItsSpecialTokens) {
  EXPECT_FALSE(Make(kBert)->With(Truncation{.max_length = 1}, {}).ok());
  EXPECT_FALSE(Make(kBert)->With(Truncation{.max_length = 8, .stride = 7}, {}).ok());
}

TEST(Tokenizer, MergesBytes) {
  const auto e = Make(Bytes(""))->Encode("abc ab");
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e->ids, (Ids{4, 5, 3}));
  EXPECT_EQ(e->tokens, (std::vector<std::string>{"abc", "\u0120", "ab"}));
}

TEST(Tokenizer, NamesTheByteThatIsNotUtf8) {
  const auto e = Make(Bytes(""))->Encode("ab\xed\xa0\x80");
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.status().code(), Code::kInvalidArgument);
  EXPECT_NE(e.status().message().find("byte 2 of 5"), std::string::npos) << e.status().message();
}

TEST(Tokenizer, NamesThePlaceOfAnError) {
  ExpectError("{", "not JSON");
  ExpectError("{}", "the field 'model' is missing");
  ExpectError(Bytes(R"(, "version": "2.0")"), "version '2.0'");
  ExpectError(
      Bytes(R"(, "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Nfx"}]})"),
      "normalizer.normalizers[1]: the normalizer 'Nfx' is not supported");
  ExpectError(Bytes(R"(, "decoder": {"type": "Strip", "content": "ab", "start": 0, "stop": 0})"),
              "decoder.content: must be a string of one character");
  ExpectError(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}})",
              "needs the token 'ab'");
  ExpectError(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1}})", "dropout");
  ExpectError(R"({"model": {"type": "BPE", "vocab": {"a": 4294967296}, "merges": []}})", "the id of 'a'");
  ExpectError(R"({"model": {"type": "Unigram", "vocab": [["a", 0]], "unk_id": 1}})", "unk_id is 1");
}

TEST(Tokenizer, BoundsWhatAFileAsksFor) {
  ExpectError(
      Bytes(
          R"(, "padding": {"strategy": {"Fixed": 1000000000000}, "pad_id": 0, "pad_type_id": 0, "pad_token": ""})"),
      "padding.strategy.Fixed: is 1000000000000");
  std::string nested = R"({"type": "NFC"})";
  for (int i = 0; i < 100; ++i) nested = R"({"type": "Sequence", "normalizers": [)" + nested + "]}";
  ExpectError(Bytes(R"(, "normalizer": )" + nested), "nested too deeply");
  std::string doubling = R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaa"})";
  for (int i = 0; i < 4; ++i) doubling += "," + doubling;
  const auto t = Make(Bytes(R"(, "normalizer": {"type": "Sequence", "normalizers": [)" + doubling + "]}"));
  EXPECT_EQ(t->Encode("a").status().code(), Code::kResourceExhausted);
}

TEST(Tokenizer, StopsARegularExpressionThatTakesTooLong) {
  const auto t =
      Make(Bytes(R"(, "normalizer": {"type": "Replace", "pattern": {"Regex": "^(a+)+$"}, "content": ""})"));
  const auto e = t->Encode(std::string(200, 'a') + "b");
  ASSERT_FALSE(e.ok());
  EXPECT_EQ(e.status().code(), Code::kResourceExhausted) << e.status().ToString();
  EXPECT_NE(e.status().message().find("(a+)+"), std::string::npos);
}

TEST(Tokenizer, LongWords) {
  const auto t = Make(Bytes(""));
  std::string word;
  for (int i = 0; i < 400000; ++i) word += "abc";
  const auto e = t->Encode(word);
  ASSERT_TRUE(e.ok());
  EXPECT_EQ(e->size(), 400000u);
  EXPECT_EQ(e->ids.back(), 4);
  EXPECT_EQ(Make(kBert)->Encode(word)->ids, (Ids{1, 0, 2}));
}

TEST(Tokenizer, IsThreadSafe) {
  const auto t = Make(Bytes(""));
  const Encoding expected = *t->Encode("abc ab cab");
  std::vector<std::thread> threads;
  std::atomic<int> equal{0};
  for (int k = 0; k < 4; ++k)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) equal += t->Encode("abc ab cab")->ids == expected.ids;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 800);
}

TEST(Tokenizer, ReplacesInvalidBytesOfDecodedText) {
  const auto t = Make(R"({"decoder": {"type": "ByteLevel"},
      "model": {"type": "BPE", "vocab": {"\u00c3": 0, "\u00a9": 1, "x": 2}, "merges": []}})");
  EXPECT_EQ(*t->Decode({0, 1, 2, 99, 0}), "éx\xef\xbf\xbd");
}

}  // namespace
}  // namespace tern::data
