#include "compress/paired.h"

#include <gtest/gtest.h>

namespace tern::compress {
namespace {

TEST(Paired, AnswersRankTheCorrectClass) {
  const Tensor scores = Tensor::Of(DType::kF32, {1, 4}, {1, 3, 3, 2});
  EXPECT_EQ(AnswerOf(scores, 1)->label, 1);
  EXPECT_EQ(AnswerOf(scores, 1)->better, 0);
  EXPECT_EQ(AnswerOf(scores, 2)->better, 1);  // an equal score of a lower class ranks before
  EXPECT_EQ(AnswerOf(scores, 0)->better, 3);
  EXPECT_FALSE(AnswerOf(scores, 4).ok());
  EXPECT_FALSE(AnswerOf(scores, -1).ok());  // an unknown class would count as correct
  EXPECT_FALSE(AnswerOf(Tensor::Of(DType::kF32, {2, 2}, {1, 2, 3, 4}), 0).ok());
  EXPECT_FALSE(AnswerOf(Tensor::Of(DType::kF32, {0}, {}), 0).ok());
}

TEST(Paired, CountsChanges) {
  // Label and number of better classes: right and right, lost, gained, wrong twice with other labels.
  const std::vector<Answer> before = {{1, 0}, {2, 0}, {3, 4}, {5, 9}},
                            after = {{1, 0}, {9, 1}, {4, 0}, {6, 9}};
  const Paired p = Compare(before, after);
  EXPECT_EQ(p.same, 1);
  EXPECT_EQ(p.lost, 1);
  EXPECT_EQ(p.gained, 1);
  EXPECT_EQ(p.p, 1);
  EXPECT_EQ(p.change, 0);
  EXPECT_LT(p.change_low, 0);
  EXPECT_GT(p.change_high, 0);
}

TEST(Paired, McNemarIsExact) {
  EXPECT_NEAR(BinomialTwoSided(0, 5), 0.0625, 1e-12);  // 2 / 2^5
  EXPECT_NEAR(BinomialTwoSided(1, 10), 22.0 / 1024, 1e-12);
  EXPECT_EQ(BinomialTwoSided(3, 6), 1);
  EXPECT_EQ(BinomialTwoSided(0, 0), 1);
}

}  // namespace
}  // namespace tern::compress
