#include "server/rollout/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tern::server {
namespace {

// Returns the share of runs in which the evidence ever reaches 1/a within n observations of this rate.
// The evidence above a rate grows only with a hit, and the evidence below a rate only without a hit.
double ShareThatReaches(double a, double rate, double limit, bool above, uint64_t n, int runs) {
  std::mt19937_64 random(7);
  std::bernoulli_distribution draw(rate);
  int reached = 0;
  for (int run = 0; run < runs; ++run) {
    uint64_t hits = 0;
    for (uint64_t i = 1; i <= n; ++i) {
      const bool hit = draw(random);
      hits += hit;
      if (hit != above && i % 16 != 0) continue;
      if ((above ? LogEvidenceAbove(i, hits, limit) : LogEvidenceBelow(i, hits, limit)) < std::log(1 / a))
        continue;
      ++reached;
      break;
    }
  }
  return static_cast<double>(reached) / runs;
}

TEST(Evidence, IsSeldomWrongHoweverOftenItIsLookedAt) {
  // The bound is 5 %. 1,000 runs have a standard error of 0.7 %.
  for (const double rate : {0.01, 0.1, 0.5}) {
    EXPECT_LE(ShareThatReaches(0.05, rate, rate, true, 1500, 1000), 0.065) << rate;
    EXPECT_LE(ShareThatReaches(0.05, rate, rate, false, 500, 1000), 0.065) << rate;
  }
}

TEST(Evidence, FindsWhatIsThere) {
  EXPECT_EQ(ShareThatReaches(0.01, 0.02, 0.0025, true, 2000, 100), 1);
  EXPECT_EQ(ShareThatReaches(0.01, 0.6, 0.5, true, 2000, 100), 1);
  EXPECT_EQ(ShareThatReaches(0.01, 0.0025, 0.01, false, 4000, 100), 1);
}

TEST(Evidence, BeginsAtOneAndMovesWithTheHits) {
  EXPECT_NEAR(LogEvidenceAbove(0, 0, 0.01), 0, 1e-12);
  EXPECT_NEAR(LogEvidenceBelow(0, 0, 0.01), 0, 1e-12);
  EXPECT_GT(LogEvidenceAbove(100, 20, 0.01), 10);
  EXPECT_LT(LogEvidenceAbove(1000, 0, 0.01), 0);
  EXPECT_GT(LogEvidenceBelow(1000, 0, 0.01), 5);
  EXPECT_LT(LogEvidenceBelow(100, 20, 0.01), -5);
  EXPECT_TRUE(std::isfinite(LogEvidenceAbove(1'000'000'000, 1'000'000'000, 1e-6)));
  EXPECT_TRUE(std::isfinite(LogEvidenceBelow(1'000'000'000, 1'000'000'000, 0.99)));
}

Verdict VerdictOf(const PairCounts& counts, const char* name, double confidence = 0.99) {
  for (const TestResult& test : JudgePairs(counts, {confidence, 0.001, 0.01, 0.2}))
    if (test.name == name) return test.verdict;
  return Verdict::kOpen;
}

TEST(Judge, WeighsErrorsAgainstThoseOfTheStableVersion) {
  PairCounts c;
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kOpen);
  c.pairs = 6000;
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kGood);
  c.candidate_only = 12;  // 0.2 %
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kBad);
  c.stable_only = 12;  // both versions fail as often, for example because of the requests
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kOpen);
  c = {};
  c.pairs = c.candidate_only = 4;  // four failures could be a coincidence of both versions
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kOpen);
  c.pairs = c.candidate_only = 12;
  EXPECT_EQ(VerdictOf(c, "errors"), Verdict::kBad);
}

TEST(Judge, DecidesAboutOutputsAndDurations) {
  PairCounts c;
  c.compared = 700;
  EXPECT_EQ(VerdictOf(c, "disagreement"), Verdict::kGood);
  c.differ = 14;
  EXPECT_EQ(VerdictOf(c, "disagreement"), Verdict::kBad);
  c.timed = 60;
  c.slower = c.not_faster = 30;
  EXPECT_EQ(VerdictOf(c, "latency"), Verdict::kOpen);
  c.slower = 55;
  EXPECT_EQ(VerdictOf(c, "latency"), Verdict::kBad);
  c.slower = 10;
  c.not_faster = 5;
  EXPECT_EQ(VerdictOf(c, "latency"), Verdict::kGood);
}

TEST(Judge, SharesTheConfidenceAmongTheTests) {
  const auto all = JudgePairs({}, {0.97, 0.001, 0.01, 0.2});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_NEAR(all[0].needed_bad, std::log(100), 1e-9);
  EXPECT_NEAR(all[0].needed_good, std::log(1 / 0.03), 1e-9);
  const auto one = JudgePairs({}, {0.99, -1, 0.01, -1});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "disagreement");
  EXPECT_NEAR(one[0].needed_bad, std::log(100), 1e-9);
  EXPECT_EQ(one[0].text, "0 of 0 outputs differ; the limit is 1 %");
}

}  // namespace
}  // namespace tern::server
