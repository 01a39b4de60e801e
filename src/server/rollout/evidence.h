// The statistics of a rollout: tests on counts of paired observations of two versions.
//
// Each test counts how often an event ("a hit") happened in n observations, and compares its rate with a
// limit. The evidence that the rate is above p0 is a mixture of likelihood ratios
//   E(n, k) = mean over q of (q/p0)^k ((1-q)/(1-p0))^(n-k),    q > p0 on a fixed grid.
// If each observation is a hit with probability at most p0, whatever happened before, E is a nonnegative
// supermartingale that begins at 1. By Ville's inequality, the probability that E ever reaches 1/a is at most
// a, however often it is looked at. So a decision can be made at any time, and 1 - a is its confidence.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tern::server {

// These functions return the natural logarithm of the evidence that the rate of hits is above, or below,
// `rate`.
// 0 < rate < 1, hits <= n.
double LogEvidenceAbove(uint64_t n, uint64_t hits, double rate);
double LogEvidenceBelow(uint64_t n, uint64_t hits, double rate);

// Counts of one rollout. "Pair" means one answer of each version: to the same request if it was mirrored, to
// neighbouring requests otherwise.
struct PairCounts {
  uint64_t pairs = 0;           // pairs in which each answer is known to be right or failed
  uint64_t candidate_only = 0;  // only the candidate failed
  uint64_t stable_only = 0;     // only the stable version failed
  uint64_t compared = 0;        // pairs of outputs
  uint64_t differ = 0;          // beyond the tolerance
  uint64_t timed = 0;           // pairs of durations
  uint64_t slower = 0;          // the candidate took longer by more than kGoodSlowdown * limit
  uint64_t not_faster = 0;      // the candidate took longer by more than the limit
};

// A limit L divides versions into three: bad ones at or above L, good ones at or below GoodRate(L)
// (slowdowns: kGoodSlowdown * L), and versions between these bounds, for which either decision is right.
constexpr double kGoodShare = 0.125;  // of the limit on a rate
constexpr double kGoodSlowdown = 0.5;
inline double GoodRate(double limit) { return limit * kGoodShare; }

enum class Verdict { kOpen, kGood, kBad };
const char* VerdictName(Verdict verdict);  // "open"

struct TestResult {
  std::string name;  // "errors", "disagreement", "latency"
  Verdict verdict = Verdict::kOpen;
  double limit = 0;
  uint64_t observations = 0, hits = 0;
  double evidence_bad = 0, evidence_good = 0;  // natural logarithms
  double needed_bad = 0, needed_good = 0;
  std::string text;  // "12 of 1800 requests failed only with the candidate"
};

// The limits of the tests that a rollout has. A negative limit means that there is no such test.
struct TestLimits {
  double confidence = 0.99;
  double error_rate = -1, disagreement = -1, slowdown = -1;
  int tests() const { return (error_rate >= 0) + (disagreement >= 0) + (slowdown >= 0); }
};

// Returns one result per test. A bad verdict is wrong with a probability of at most 1 - confidence, for all
// tests together: each has its share. A version that is bad in any respect gets good verdicts in all tests
// with a probability of at most 1 - confidence.
//
// A version is bad because of errors only if two things are shown: the rate of requests that fail with it
// alone is above GoodRate(limit), and such failures are more frequent than those of the stable version alone.
std::vector<TestResult> JudgePairs(const PairCounts& counts, const TestLimits& limits);

}  // namespace tern::server
