#include "server/rollout/evidence.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/strings.h"

namespace tern::server {
namespace {

// The evidence is the mean over several alternative rates q (see evidence.h). Their odds are those of the
// tested rate, multiplied or divided by these factors. With more factors, the mean loses more evidence than
// the better fit gains.
constexpr double kFactors[] = {1.5, 2.5, 4, 8, 16, 64, 512};

// k log(q/p) + (n-k) log((1-q)/(1-p)), for 0 < p < 1.
double LogRatio(double n, double k, double q, double p) {
  const double hits = k > 0 ? k * std::log(q / p) : 0;
  const double misses = n > k ? (n - k) * (std::log1p(-q) - std::log1p(-p)) : 0;
  return hits + misses;
}

double LogMean(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  if (most == -std::numeric_limits<double>::infinity()) return most;
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - most);
  return most + std::log(sum / static_cast<double>(logs.size()));
}

double OfOdds(double odds) { return odds / (1 + odds); }

std::string Percent(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", rate * 100);
  return text;
}

Verdict Decide(const TestResult& r) {
  if (r.evidence_bad >= r.needed_bad) return Verdict::kBad;
  return r.evidence_good >= r.needed_good ? Verdict::kGood : Verdict::kOpen;
}

TestResult Errors(const PairCounts& c, double limit) {
  TestResult r;
  r.name = "errors";
  r.limit = limit;
  r.observations = c.pairs;
  r.hits = c.candidate_only;
  // The candidate is bad only if its failures exceed GoodRate and are more than those of the stable version.
  // Both must be shown, so the weaker evidence counts.
  r.evidence_bad = std::min(LogEvidenceAbove(c.pairs, c.candidate_only, GoodRate(limit)),
                            LogEvidenceAbove(c.candidate_only + c.stable_only, c.candidate_only, 0.5));
  r.evidence_good = LogEvidenceBelow(c.pairs, c.candidate_only, limit);
  r.text = StrCat(c.candidate_only, " of ", c.pairs, " requests failed only with the candidate, ",
                  c.stable_only, " only with the stable version; the limit is ", Percent(limit));
  return r;
}

TestResult Disagreement(const PairCounts& c, double limit) {
  TestResult r;
  r.name = "disagreement";
  r.limit = limit;
  r.observations = c.compared;
  r.hits = c.differ;
  r.evidence_bad = LogEvidenceAbove(c.compared, c.differ, GoodRate(limit));
  r.evidence_good = LogEvidenceBelow(c.compared, c.differ, limit);
  r.text = StrCat(c.differ, " of ", c.compared, " outputs differ; the limit is ", Percent(limit));
  return r;
}

TestResult Latency(const PairCounts& c, double limit) {
  TestResult r;
  r.name = "latency";
  r.limit = limit;
  r.observations = c.timed;
  r.hits = c.slower;
  r.evidence_bad = LogEvidenceAbove(c.timed, c.slower, 0.5);
  r.evidence_good = LogEvidenceBelow(c.timed, c.not_faster, 0.5);
  r.text = StrCat("the candidate took over ", Percent(limit * kGoodSlowdown), " longer in ", c.slower, " of ",
                  c.timed, " pairs, and ", Percent(limit), " longer in ", c.not_faster, "; the limit is ",
                  Percent(limit), " in the median");
  return r;
}

}  // namespace

double LogEvidenceAbove(uint64_t n, uint64_t hits, double rate) {
  const double odds = rate / (1 - rate);
  std::vector<double> logs;
  for (const double factor : kFactors)
    logs.push_back(LogRatio(static_cast<double>(n), static_cast<double>(hits), OfOdds(odds * factor), rate));
  return LogMean(logs);
}

double LogEvidenceBelow(uint64_t n, uint64_t hits, double rate) {
  const double odds = rate / (1 - rate);
  std::vector<double> logs;
  for (const double factor : kFactors)
    logs.push_back(LogRatio(static_cast<double>(n), static_cast<double>(hits), OfOdds(odds / factor), rate));
  return LogMean(logs);
}

const char* VerdictName(Verdict verdict) {
  return verdict == Verdict::kGood ? "good" : verdict == Verdict::kBad ? "bad" : "open";
}

std::vector<TestResult> JudgePairs(const PairCounts& counts, const TestLimits& limits) {
  std::vector<TestResult> results;
  if (limits.error_rate >= 0) results.push_back(Errors(counts, limits.error_rate));
  if (limits.disagreement >= 0) results.push_back(Disagreement(counts, limits.disagreement));
  if (limits.slowdown >= 0) results.push_back(Latency(counts, limits.slowdown));
  const double alpha = 1 - limits.confidence;
  for (TestResult& result : results) {
    result.needed_bad = std::log(limits.tests() / alpha);
    result.needed_good = std::log(1 / alpha);
    result.verdict = Decide(result);
  }
  return results;
}

}  // namespace tern::server
