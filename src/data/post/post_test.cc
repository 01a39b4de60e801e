#include <gtest/gtest.h>

#include <cmath>

#include "data/image/draw.h"
#include "data/post/embedding.h"
#include "data/post/labels.h"
#include "data/post/segment.h"
#include "data/post/speech_tokens.h"
#include "data/post/topk.h"

namespace tern::data {
namespace {

using Names = std::vector<std::string>;

TEST(TopK, RanksRows) {
  auto rows = TopK(Tensor::Of(DType::kF32, {2, 3}, {1, 3, 3, 0, -1, NAN}), 2);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0][0].index, 1);
  EXPECT_EQ((*rows)[0][1].index, 2);
  EXPECT_EQ((*rows)[1][1].index, 1);
  EXPECT_FALSE(TopK(Tensor::Strings({1}, {"a"}), 1).ok());
  EXPECT_TRUE((*TopK(Tensor::Of(DType::kF32, {2}, {1, 2}), -1))[0].empty());
}

TEST(TopK, SoftmaxAndSigmoid) {
  auto p = Softmax(Tensor::Of(DType::kF32, {2, 2}, {1000, 1000, 0, std::log(3)}));
  ASSERT_TRUE(p.ok());
  EXPECT_FLOAT_EQ(p->data<float>()[0], 0.5f);
  EXPECT_NEAR(p->data<float>()[3], 0.75f, 1e-6);
  EXPECT_FLOAT_EQ(Sigmoid(Tensor::Of(DType::kF32, {1}, {-1000}))->data<float>()[0], 0);
  EXPECT_FALSE(Softmax(Tensor::Scalar(DType::kF32, 1)).ok());
}

TEST(Labels, ReadsEveryFormat) {
  const Names three = {"cat", "dog, hound", "owl"};
  EXPECT_EQ(*ParseLabels("cat\ndog, hound\r\nowl\n\n"), three);
  EXPECT_EQ(*ParseLabels("0  cat\n1  dog, hound\n2  owl\n"), three);
  EXPECT_EQ(*ParseLabels("2: owl\n0: cat\n1: dog, hound"), three);
  EXPECT_EQ(*ParseLabels("n00000001 cat\nn00000002 dog, hound\nn00000003 owl\n"), three);
  EXPECT_EQ(*ParseLabels("'n00000001 cat'\n'n00000002 dog, hound'\n'n00000003 owl'\n"), three);
  EXPECT_EQ(*ParseLabels(R"(["cat", "dog, hound", "owl"])"), three);
  EXPECT_EQ(*ParseLabels(R"({"0": ["n1", "cat"], "2": ["n3", "owl"], "1": ["n2", "dog, hound"]})"), three);
  EXPECT_EQ(*ParseLabels(R"({"owl": 2, "cat": 0, "dog, hound": 1})"), three);
  EXPECT_EQ(*ParseLabels(R"({"x": 1, "id2label": {"0": "cat", "1": "dog, hound", "2": "owl"}})"), three);
  EXPECT_EQ(*ParseLabels("3 tea\n1 milk"), (Names{"", "milk", "", "tea"}));
  EXPECT_EQ(*ParseLabels("101 dalmatians\ncats"), (Names{"101 dalmatians", "cats"}));
}

TEST(Labels, RefusesDamage) {
  for (const char* text :
       {"", " \n", "[", "[1]", "{\"a\": \"b\"}", "1 a\n1 b", "99999999 a\n", "{\"0\": []}", "[[]]"})
    EXPECT_FALSE(ParseLabels(text).ok()) << text;
}

TEST(Segment, TakesTheLargestScore) {
  const Tensor planes = Tensor::Of(DType::kF32, {1, 3, 1, 3}, {1, NAN, 0, 2, 5, 0, 1, 9, 0}),
               pixels = Tensor::Of(DType::kF32, {1, 3, 3}, {1, 2, 1, NAN, 5, 9, 0, 0, 0});
  for (const auto& [t, layout] : {std::pair(planes, Layout::kNchw), std::pair(pixels, Layout::kNhwc)}) {
    auto map = SegmentationMap(t, layout);
    ASSERT_TRUE(map.ok()) << map.status().ToString();
    EXPECT_EQ(map->labels, (std::vector<int32_t>{1, 2, 0}));
  }
  EXPECT_EQ(SegmentationMap(Tensor::Ints({4, 5}).Reshaped({1, 2}))->labels, (std::vector<int32_t>{4, 5}));
  EXPECT_FALSE(SegmentationMap(Tensor(DType::kF32, {2, 3, 4, 4})).ok());
}

TEST(Segment, MovesToThePictureAndDraws) {
  const ClassMap map{2, 2, {0, 1, 2, 3}};
  auto big = MapToPicture(map, *PlaceImage({4, 2}, {.fit = Fit::kStretch, .size = {8, 8}}));
  ASSERT_TRUE(big.ok());
  EXPECT_EQ(big->labels, (std::vector<int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
  Image image(4, 2, 3);
  ASSERT_TRUE(DrawClasses(image, *big, 1, 0).ok());
  EXPECT_EQ(image.pixels[0], 0);
  EXPECT_EQ(image.at(2, 0)[0], ClassColour(1)[0]);
  EXPECT_FALSE(DrawClasses(image, map, 1, 0).ok());
  EXPECT_EQ(ColourClasses(map).at(1, 1)[2], ClassColour(3)[2]);
}

TEST(Embedding, PoolsWithAMask) {
  const Tensor states = Tensor::Of(DType::kF32, {1, 3, 2}, {1, -2, 3, 4, 100, 100}),
               mask = Tensor::Ints({1, 1, 0}).Reshaped({1, 3});
  const auto values = [&](Pooling pooling, const Tensor* m) {
    return ToDoubles(*PoolEmbedding(states, m, pooling));
  };
  using Doubles = std::vector<double>;
  EXPECT_EQ(values(Pooling::kMean, &mask), (Doubles{2, 1}));
  EXPECT_EQ(values(Pooling::kMax, &mask), (Doubles{3, 4}));
  EXPECT_EQ(values(Pooling::kLast, &mask), (Doubles{3, 4}));
  EXPECT_EQ(values(Pooling::kCls, &mask), (Doubles{1, -2}));
  EXPECT_EQ(values(Pooling::kLast, nullptr), (Doubles{100, 100}));
  const Tensor empty(DType::kI64, {1, 3});
  EXPECT_FALSE(PoolEmbedding(states, &empty, Pooling::kMean).ok());
  EXPECT_FALSE(PoolEmbedding(states, &states, Pooling::kMean).ok());
  EXPECT_FALSE(PoolingFromName("sum").ok());
}

TEST(Embedding, SearchesByCosine) {
  const Tensor corpus = Tensor::Of(DType::kF32, {4, 2}, {1, 0, 0, 9, -3, 0, 2, 2}),
               query = Tensor::Of(DType::kF32, {1, 2}, {5, 1});
  auto found = CosineTopK(query, corpus, 2);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_EQ((*found)[0][0].index, 0);
  EXPECT_NEAR((*found)[0][0].score, 5 / std::sqrt(26.0), 1e-6);
  EXPECT_EQ((*found)[0][1].index, 3);
  EXPECT_EQ(L2Normalise(Tensor(DType::kF32, {1, 2}))->data<float>()[0], 0);
  EXPECT_FALSE(CosineTopK(query, Tensor(DType::kF32, {1, 3}), 1).ok());
}

// A vocabulary of 4 text tokens, the end, and timestamps from 6 on.
const SpeechTokens kRules{
    .end_of_text = 4, .no_timestamps = 5, .first_timestamp = 6, .largest_first_step = 1};

std::vector<int64_t> Allowed(const std::vector<int64_t>& tokens,
                             std::vector<float> logits = std::vector<float>(10)) {
  EXPECT_TRUE(ApplySpeechRules(kRules, tokens, true, logits).ok());
  std::vector<int64_t> out;
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > -INFINITY) out.push_back(static_cast<int64_t>(i));
  return out;
}

TEST(SpeechTokens, FollowTheRulesOfTimestamps) {
  using Tokens = std::vector<int64_t>;
  EXPECT_EQ(Allowed({}), (Tokens{6, 7}));  // the first one, at most 1 step
  const std::vector<float> text_first = {9, 9, 9, 9, 9, 9, 0, 0, 0, 0};
  EXPECT_EQ(Allowed({6}, text_first), (Tokens{0, 1, 2, 3, 4}));           // text after the start
  EXPECT_EQ(Allowed({7, 2}, text_first), (Tokens{0, 1, 2, 3, 4, 8, 9}));  // later than the start
  EXPECT_EQ(Allowed({6, 2, 8}, text_first), (Tokens{4, 8, 9}));           // the pair, or the end
  EXPECT_EQ(Allowed({6, 2}), (Tokens{7, 8, 9}));  // together more probable than any text
  std::vector<float> logits(3);
  EXPECT_FALSE(ApplySpeechRules(kRules, {}, true, logits).ok());
}

TEST(SpeechTokens, SuppressesLists) {
  SpeechTokens rules = kRules;
  rules.suppress = {1};
  rules.suppress_at_begin = {2};
  std::vector<float> first(10), second(10);
  ASSERT_TRUE(ApplySpeechRules(rules, {}, false, first).ok());
  ASSERT_TRUE(ApplySpeechRules(rules, {0}, false, second).ok());
  EXPECT_EQ(first[1], -INFINITY);
  EXPECT_EQ(first[2], -INFINITY);
  EXPECT_EQ(second[2], 0);
  rules.suppress = {10};
  EXPECT_FALSE(ApplySpeechRules(rules, {}, false, first).ok());
}

TEST(SpeechTokens, SplitsSegments) {
  const auto segments = SplitSpeech(kRules, {6, 1, 2, 8, 8, 3, 9, 1, 4, 2}, 30);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].tokens, (std::vector<int64_t>{1, 2}));
  EXPECT_NEAR(*segments[0].start, 30, 1e-9);
  EXPECT_NEAR(*segments[1].start, 30.04, 1e-9);
  EXPECT_NEAR(*segments[1].end, 30.06, 1e-9);
  EXPECT_FALSE(segments[2].end.has_value());
  EXPECT_EQ(segments[2].tokens, (std::vector<int64_t>{1}));
}

}  // namespace
}  // namespace tern::data
