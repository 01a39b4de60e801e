#include "passes/layout/min_cut.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(MinCut, CutsWhereItIsCheapest) {
  MinCut cut;
  const int a = cut.AddNode(), b = cut.AddNode();
  cut.AddEdge(MinCut::kSource, a, 5);
  cut.AddEdge(a, b, 2);
  cut.AddEdge(b, MinCut::kSink, 3);
  const auto side = cut.Solve();
  EXPECT_FALSE(side[static_cast<size_t>(a)]);
  EXPECT_TRUE(side[static_cast<size_t>(b)]);
}

TEST(MinCut, LeavesWhatIsUndecidedAtTheSource) {
  MinCut cut;
  const int a = cut.AddNode(), alone = cut.AddNode();
  cut.AddEdge(MinCut::kSource, a, 4);
  cut.AddEdge(a, MinCut::kSink, 4);
  const auto side = cut.Solve();
  EXPECT_FALSE(side[static_cast<size_t>(a)]);
  EXPECT_FALSE(side[static_cast<size_t>(alone)]);
}

TEST(MinCut, JoinedNodesPayOnce) {
  for (const int64_t price : {5, 7}) {
    MinCut cut;
    const int a = cut.AddNode(), b = cut.AddNode();
    cut.Join({MinCut::kSource, a, b}, price);
    cut.AddEdge(a, MinCut::kSink, 3);
    cut.AddEdge(b, MinCut::kSink, 3);
    const auto side = cut.Solve();
    EXPECT_EQ(side[static_cast<size_t>(a)], price < 6);
    EXPECT_EQ(side[static_cast<size_t>(b)], price < 6);
  }
}

TEST(MinCut, LongChains) {
  MinCut cut;
  int last = MinCut::kSource;
  constexpr int kLength = 20000;
  for (int i = 0; i < kLength; ++i) {
    const int next = cut.AddNode();
    cut.AddEdge(last, next, i == kLength / 2 ? 1 : 2);
    last = next;
  }
  cut.AddEdge(last, MinCut::kSink, MinCut::kInfinite);
  const auto side = cut.Solve();
  EXPECT_FALSE(side[2]);
  EXPECT_TRUE(side[static_cast<size_t>(last)]);
}

}  // namespace
}  // namespace tern
