#include "runtime/plan/step_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace tern {
namespace {

void ExpectValid(const OrderProblem& p, const std::vector<int>& order) {
  ASSERT_EQ(order.size(), p.steps.size());
  std::set<int> done;
  for (int s : order) {
    for (int before : p.steps[static_cast<size_t>(s)].after) EXPECT_TRUE(done.count(before)) << s;
    EXPECT_TRUE(done.insert(s).second) << s;
  }
}

std::vector<int> OriginalOrder(const OrderProblem& p) {
  std::vector<int> order(p.steps.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Returns the lowest peak of all orders, by exhaustive search.
size_t LowestPeak(const OrderProblem& p) {
  std::vector<int> order = OriginalOrder(p);
  size_t least = SIZE_MAX;
  do {
    std::vector<bool> done(order.size());
    bool valid = true;
    for (int s : order) {
      for (int before : p.steps[static_cast<size_t>(s)].after) valid &= done[static_cast<size_t>(before)];
      done[static_cast<size_t>(s)] = true;
    }
    if (valid) least = std::min(least, PeakOf(p, order));
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

// Step i writes block i. Each step reads the blocks of the steps that it depends on.
OrderProblem Random(std::mt19937& random, int count) {
  OrderProblem p;
  for (int i = 0; i < count; ++i) {
    OrderStep step;
    for (int j = 0; j < i; ++j)
      if (random() % 3 == 0) step.after.push_back(j);
    step.reads = step.after;
    step.writes = {i};
    step.overwrites = random() % 4 == 0;
    p.steps.push_back(step);
    p.bytes.push_back(random() % 100);
    p.live_out.push_back(random() % 8 == 0);
  }
  return p;
}

TEST(StepOrder, IsOptimalForSmallGraphs) {
  std::mt19937 random(3);
  int better = 0;
  for (int round = 0; round < 150; ++round) {
    const OrderProblem p = Random(random, 3 + static_cast<int>(random() % 5));
    const auto order = FindOrder(p);
    ExpectValid(p, order);
    EXPECT_EQ(PeakOf(p, order), LowestPeak(p)) << "round " << round;
    EXPECT_EQ(order, FindOrder(p));
    better += PeakOf(p, order) < PeakOf(p, OriginalOrder(p));
  }
  EXPECT_GT(better, 20);
}

TEST(StepOrder, IsNeverWorseForLargeGraphs) {
  std::mt19937 random(5);
  for (int round = 0; round < 5; ++round) {
    const OrderProblem p = Random(random, 300);
    const auto order = FindOrder(p);
    ExpectValid(p, order);
    EXPECT_LE(PeakOf(p, order), PeakOf(p, OriginalOrder(p)));
    EXPECT_EQ(order, FindOrder(p));
  }
}

// Returns branches that each write a large block and reduce it, listed breadth first. If one branch runs
// after the other, only one large block is alive.
OrderProblem Branches(int branches) {
  OrderProblem p;
  for (int b = 0; b < branches; ++b) p.steps.push_back({{}, {}, {b}, false}), p.bytes.push_back(1000);
  for (int b = 0; b < branches; ++b)
    p.steps.push_back({{b}, {b}, {branches + b}, false}), p.bytes.push_back(10);
  OrderStep last;
  for (int b = 0; b < branches; ++b) last.after.push_back(branches + b), last.reads.push_back(branches + b);
  last.writes = {2 * branches};
  p.steps.push_back(last), p.bytes.push_back(10);
  p.live_out.assign(p.bytes.size(), false);
  p.live_out.back() = true;
  return p;
}

TEST(StepOrder, RunsOneBranchAfterTheOther) {
  for (int branches : {2, 8, 40}) {
    const OrderProblem p = Branches(branches);
    EXPECT_EQ(PeakOf(p, OriginalOrder(p)), static_cast<size_t>(branches) * 1000 + 10);
    const auto order = FindOrder(p);
    ExpectValid(p, order);
    EXPECT_EQ(PeakOf(p, order), 1000 + static_cast<size_t>(branches) * 10);
  }
}

TEST(StepOrder, KeepsTheOriginalOrderIfNoneIsBetter) {
  OrderProblem chain;
  for (int i = 0; i < 50; ++i) {
    chain.steps.push_back({i ? std::vector<int>{i - 1} : std::vector<int>{},
                           i ? std::vector<int>{i - 1} : std::vector<int>{},
                           {i},
                           false});
    chain.bytes.push_back(10);
    chain.live_out.push_back(i == 49);
  }
  EXPECT_EQ(FindOrder(chain), OriginalOrder(chain));
  EXPECT_TRUE(FindOrder({}).empty());
}

}  // namespace
}  // namespace tern
