#include "server/generate/select_scores.h"

#include "server/generate/test_support.h"

namespace tern::server {
namespace {

TEST(SelectScores, ARunOfAPromptScoresItsLastToken) {
  const auto model = SmallModel();
  ASSERT_TRUE(model);
  ASSERT_GE(model->ports().positions_of_scores, 0);
  RowBatch last(model), all(model);
  const std::vector<int64_t> tokens{72, 101, 108, 108, 111, 0, 0, 0};
  ASSERT_TRUE(last.SetRows(1).ok() && all.SetRows(1).ok());
  ASSERT_TRUE(last.Run(tokens, 8, {5}, 1).ok());
  ASSERT_TRUE(all.Run(tokens, 8, {5}, 1, true).ok());
  const auto want = all.Scores(0, 4), got = last.Scores(0, 4);
  ASSERT_TRUE(want.ok() && got.ok()) << got.status().ToString();
  ASSERT_EQ(last.vocabulary(), 259);
  for (int i = 0; i < 259; ++i) EXPECT_NEAR((*got)[i], (*want)[i], 1e-5) << i;
  EXPECT_EQ(last.Scores(0, 3).status().code(), Code::kInternal);
  EXPECT_TRUE(all.Scores(0, 0).ok());
}

TEST(SelectScores, LeavesOtherGraphsAsTheyAre) {
  InitOps();
  for (const char* text :
       {"graph @g(%x: f32[B,S,4], %w: f32[4,9]) -> (%scores) {\n  %scores = MatMul(%x, %w)\n}",
        "graph @g(%x: f32[B,4], %w: f32[4,9]) -> (%logits) {\n  %logits = MatMul(%x, %w)\n}",
        "graph @g(%x: f32[B,S,4], %w: f32[4,9]) -> (%logits, %more) {\n"
        "  %logits = MatMul(%x, %w)\n  %more = Softmax(%logits)\n}"}) {
    auto graph = ParseGraph(text);
    ASSERT_TRUE(graph.ok()) << graph.status().ToString();
    EXPECT_TRUE(SelectScores(**graph).ok());
    EXPECT_EQ((*graph)->inputs().size(), 2u) << text;
  }
}

}  // namespace
}  // namespace tern::server
