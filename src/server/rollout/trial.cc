#include "server/rollout/trial.h"

#include <cmath>

namespace tern::server {
namespace {

constexpr size_t kMaxWaitingAnswers = 64;  // answers that wait to be paired with one of the other version
// Smaller differences of durations do not count. Timers, caches and other programs on busy cores cause them
// between two equal versions.
constexpr std::chrono::nanoseconds kSlack{100'000};

uint64_t Mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t HashText(std::string_view text, uint64_t seed) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return Mix(hash);
}

char Folded(char c) { return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Header fields become parameters with their own spelling: "Rollout-Key" is the same name as "rollout_key".
bool SameName(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return Folded(x) == Folded(y); });
}

std::string KeyText(const ParameterValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
          return v;
        else
          return StrCat(v);
      },
      value);
}

std::string KeyOf(const Request& request, const std::string& name) {
  for (const auto& [key, value] : request.parameters)
    if (SameName(key, name)) return KeyText(value);
  return request.sequence.id;  // requests of a sequence stay together
}

bool Slower(std::chrono::nanoseconds a, std::chrono::nanoseconds b, double slowdown) {
  return static_cast<double>((a - kSlack).count()) > static_cast<double>(b.count()) * (1 + slowdown);
}

TestLimits LimitsOf(const RolloutPolicy& policy, bool mirrors) {
  TestLimits limits;
  limits.confidence = policy.confidence;
  limits.error_rate = policy.max_error_rate.value_or(-1);
  limits.disagreement = mirrors ? policy.max_disagreement.value_or(-1) : -1;  // only copies are compared
  limits.slowdown = policy.max_slowdown.value_or(-1);
  return limits;
}

std::string Describe(const TestResult& test) {
  char text[96];
  std::snprintf(text, sizeof text, " (evidence e^%.1f, needed e^%.1f)",
                test.verdict == Verdict::kBad ? test.evidence_bad : test.evidence_good,
                test.verdict == Verdict::kBad ? test.needed_bad : test.needed_good);
  return StrCat(test.name, ": ", test.text, text);
}

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Trial::Trial(const RolloutPolicy& policy, bool mirrors, std::string salt, Clock::time_point now)
    : policy_(policy),
      mirrors_(mirrors && policy.mirror > 0),
      salt_(HashText(salt, 0)),
      limits_(LimitsOf(policy, mirrors_)),
      weight_(policy.steps.front()),
      began_(now),
      step_began_(now) {}

void Trial::SetStep(size_t step, std::optional<double> weight, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  step_ = std::min(step, policy_.steps.size() - 1);
  by_hand_ = weight.has_value();
  weight_.store(weight.value_or(policy_.steps[step_]), std::memory_order_relaxed);
  step_began_ = now;
  step_live_ = counts_.candidate_live;
  step_mirrored_ = counts_.mirrored;
}

bool Trial::PicksCandidate(const Request& request) const {
  const double share = weight() / 100;
  if (share <= 0) return false;
  const std::string key = KeyOf(request, policy_.key);
  const uint64_t hash =
      key.empty() ? Mix(salt_ + unkeyed_.fetch_add(1, std::memory_order_relaxed)) : HashText(key, salt_);
  return static_cast<double>(hash >> 11) * 0x1p-53 < share;
}

void Trial::AddTimes(const Outcome& candidate, const Outcome& stable) {
  if (candidate.ending != Ending::kOk || stable.ending != Ending::kOk || candidate.batch != stable.batch)
    return;
  if (limits_.slowdown < 0) return;
  PairCounts& c = counts_.pairs;
  ++c.timed;
  c.slower += Slower(candidate.duration, stable.duration, limits_.slowdown * kGoodSlowdown);
  c.not_faster += Slower(candidate.duration, stable.duration, limits_.slowdown);
}

void Trial::AddPair(const Outcome& candidate, const Outcome& stable) {
  PairCounts& c = counts_.pairs;
  const bool bad = candidate.ending == Ending::kFailed, baseline_bad = stable.ending == Ending::kFailed;
  ++c.pairs;
  c.candidate_only += bad && !baseline_bad;
  c.stable_only += !bad && baseline_bad;
}

void Trial::OnLive(bool candidate, const Outcome& outcome, const std::string& error) {
  const std::lock_guard lock(mutex_);
  ++(candidate ? counts_.candidate_live : counts_.stable_live);
  if (outcome.ending == Ending::kIgnored) return;
  if (candidate && outcome.ending == Ending::kFailed) {
    ++counts_.candidate_errors;
    counts_.error = error;
  }
  if (weight() <= 0 && !candidate) return;  // the candidate gives no answers to pair it with
  auto& own = candidate ? candidates_ : stables_;
  auto& other = candidate ? stables_ : candidates_;
  if (other.empty()) {
    own.push_back(outcome);
    if (own.size() > kMaxWaitingAnswers) own.pop_front();
    return;
  }
  // Takes the latest answer of the other version, so that both answers were given under the same conditions.
  const Outcome partner = other.back();
  other.pop_back();
  AddPair(candidate ? outcome : partner, candidate ? partner : outcome);
  AddTimes(candidate ? outcome : partner, candidate ? partner : outcome);
}

void Trial::OnMirrored(const MirrorResult& result, const std::string& error) {
  const std::lock_guard lock(mutex_);
  ++counts_.mirrored;
  if (result.candidate.ending == Ending::kIgnored || result.stable.ending == Ending::kIgnored) return;
  AddPair(result.candidate, result.stable);
  if (result.candidate.ending == Ending::kFailed && result.stable.ending == Ending::kOk) {
    ++counts_.candidate_errors;
    counts_.hung += result.hung;
    counts_.error = error;
  }
  if (result.differ) {
    ++counts_.pairs.compared;
    counts_.pairs.differ += !result.differ->empty();
    if (!result.differ->empty()) counts_.difference = *result.differ;
  }
  if (result.control) AddTimes(result.candidate, *result.control);
}

std::vector<TestResult> Trial::Judge() const { return JudgePairs(counts_.pairs, limits_); }

std::vector<TestResult> Trial::Tests() const {
  const std::lock_guard lock(mutex_);
  return Judge();
}

TrialCounts Trial::Counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// Returns whether the test can get observations in this step. Durations come from controls, or from a step in
// which both versions answer.
bool Trial::Measurable(const TestResult& test) const {
  return test.name != "latency" || weight() > 0 || (mirrors_ && policy_.control_per_second > 0);
}

bool Trial::StepIsOver(Clock::time_point now) const {
  const uint64_t answered =
      weight() > 0 ? counts_.candidate_live - step_live_ : counts_.mirrored - step_mirrored_;
  return Seconds(now - step_began_) >= policy_.step_seconds &&
         answered >= static_cast<uint64_t>(policy_.step_requests);
}

Decision Trial::Decide(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  bool good = true;
  std::string reasons;
  for (const TestResult& test : Judge()) {
    if (test.verdict == Verdict::kBad) {
      const std::string& example = test.name == "disagreement" ? counts_.difference : counts_.error;
      return {Move::kRollback, StrCat(Describe(test), test.name == "latency" || example.empty() ? "" : "; ",
                                      test.name == "latency" ? "" : example)};
    }
    if (test.verdict == Verdict::kOpen && Measurable(test)) good = false;
    reasons += StrCat(reasons.empty() ? "" : "; ", Describe(test));
  }
  if (good && !by_hand_ && StepIsOver(now)) {
    if (step_ + 1 < policy_.steps.size()) return {Move::kNextStep, reasons};
    if (policy_.promote) return {Move::kPromote, reasons};
  }
  const bool late = policy_.timeout_seconds > 0 && Seconds(now - began_) >= policy_.timeout_seconds;
  if (!late || by_hand_ || held_) return {};
  reasons = StrCat("undecided after ", policy_.timeout_seconds, " s; ", reasons);
  if (policy_.on_timeout == OnTimeout::kPromote) return {Move::kPromote, reasons};
  if (policy_.on_timeout == OnTimeout::kRollback) return {Move::kRollback, reasons};
  held_ = true;
  return {Move::kHold, reasons};
}

}  // namespace tern::server
