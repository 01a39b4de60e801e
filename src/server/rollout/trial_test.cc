// Trials in virtual time: versions with known faults, at 200 requests per second.
#include "server/rollout/trial.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

Clock::time_point At(double seconds) {
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

// What a version does wrong.
struct Faults {
  double wrong = 0, fails = 0, slowdown = 0;
};

// Sends requests to a trial until it ends or `limit` seconds have passed.
class Simulation {
 public:
  Simulation(const RolloutPolicy& policy, const Faults& faults, uint64_t seed, const Faults& stable = {})
      : policy_(policy),
        faults_(faults),
        stable_(stable),
        random_(seed),
        trial_(policy, true, "m/2", At(1)) {}

  void Run(double rate, double limit) {
    size_t step = 0;
    double controls = 0;
    for (double t = 0; t < limit && end_ == Move::kNone; t += 1 / rate) {
      Request request;
      if (trial_.PicksCandidate(request)) {
        const Outcome outcome = Answer(faults_);
        seen_errors_ += outcome.ending == Ending::kFailed;
        trial_.OnLive(true, outcome, "it failed");
      } else {
        const Outcome stable = Answer(stable_);
        trial_.OnLive(false, stable, "");
        if (policy_.mirror > 0) RequestMirror(stable, (controls += policy_.control_per_second / rate) >= 1);
        if (controls >= 1) controls -= 1;
      }
      if (t < next_tick_) continue;
      next_tick_ += 0.1;
      const Decision decision = trial_.Decide(At(1 + t));
      if (decision.move == Move::kNextStep) {
        trial_.SetStep(++step, {}, At(1 + t));
      } else if (decision.move != Move::kNone) {
        end_ = decision.move;
        reason_ = decision.reason;
        seconds_ = t;
      }
    }
  }

  Move end() const { return end_; }
  double seconds() const { return seconds_; }
  int seen_errors() const { return seen_errors_; }
  const std::string& reason() const { return reason_; }
  Trial& trial() { return trial_; }

 private:
  bool Chance(double p) { return std::uniform_real_distribution<>()(random_) < p; }
  // Durations vary by a factor of about 1.35.
  Outcome Answer(const Faults& faults) {
    const double ms = 5 * (1 + faults.slowdown) * std::exp(std::normal_distribution<>(0, 0.3)(random_));
    return {Chance(faults.fails) ? Ending::kFailed : Ending::kOk, nanoseconds(static_cast<int64_t>(ms * 1e6)),
            1};
  }
  void RequestMirror(const Outcome& stable, bool control) {
    MirrorResult result;
    result.stable = stable;
    result.candidate = Answer(faults_);
    const bool both = stable.ending == Ending::kOk && result.candidate.ending == Ending::kOk;
    if (both) result.differ = Chance(faults_.wrong) ? "output 'y', element 0: 1 and 2" : "";
    if (control) result.control = Answer(stable_);
    trial_.OnMirrored(result, "it failed");
  }

  const RolloutPolicy policy_;
  const Faults faults_, stable_;
  std::mt19937_64 random_;
  Trial trial_;
  Move end_ = Move::kNone;
  double seconds_ = 0, next_tick_ = 0;
  int seen_errors_ = 0;
  std::string reason_;
};

struct Summary {
  int promoted = 0, rolled_back = 0, errors = 0;
  double longest = 0, mean = 0;
};

Summary RunMany(const RolloutPolicy& policy, const Faults& faults, int runs, double limit = 60,
                const Faults& stable = {}) {
  Summary s;
  for (int run = 0; run < runs; ++run) {
    Simulation simulation(policy, faults, 100 + static_cast<uint64_t>(run), stable);
    simulation.Run(200, limit);
    s.promoted += simulation.end() == Move::kPromote;
    s.rolled_back += simulation.end() == Move::kRollback;
    s.errors += simulation.seen_errors();
    s.longest = std::max(s.longest, simulation.seconds());
    s.mean += simulation.seconds() / runs;
  }
  return s;
}

TEST(TrialRun, RollsBackBadVersionsWithinAMinute) {
  constexpr int kRuns = 100;
  for (const auto& [name, faults] : {std::pair("wrong", Faults{0.02, 0, 0}),
                                     {"fails", Faults{0, 1 / 500.0, 0}},
                                     {"slow", Faults{0, 0, 0.3}}}) {
    const Summary s = RunMany({}, faults, kRuns);
    EXPECT_EQ(s.rolled_back, kRuns) << name;
    EXPECT_LT(s.longest, 60) << name;
    EXPECT_EQ(s.errors, 0) << name << ": the first step sends copies only";
    RecordProperty(std::string(name) + "_mean_s", std::to_string(s.mean));
    RecordProperty(std::string(name) + "_longest_s", std::to_string(s.longest));
  }
}

TEST(TrialRun, PromotesGoodVersions) {
  const Summary s = RunMany({}, {}, 100, 120);
  EXPECT_EQ(s.promoted, 100);
  EXPECT_GE(s.mean, 30) << "three steps of ten seconds";
  RecordProperty("mean_s", std::to_string(s.mean));
}

TEST(TrialRun, RollsBackFewVersionsWithinTheLimits) {
  // An eighth of the limits, and half of the slowdown: at most 1 % may be rolled back.
  const Summary s = RunMany({}, {0.00125, 0.000125, 0.1}, 200, 120);
  EXPECT_LE(s.rolled_back, 6) << "1 % of 200, and three standard errors";
}

TEST(TrialRun, DoesNotBlameACandidateForErrorsOfBothVersions) {
  const Summary s = RunMany({}, {0, 0.02, 0}, 50, 60, {0, 0.02, 0});
  EXPECT_LE(s.rolled_back, 2);
  EXPECT_EQ(s.promoted, 0) << "the errors are above the limit, so nobody can tell";
}

TEST(TrialRun, DecidesWithoutCopies) {
  RolloutPolicy policy;
  policy.mirror = 0;
  policy.steps = {20};
  const Summary bad = RunMany(policy, {0, 0.02, 0}, 20, 120), slow = RunMany(policy, {0, 0, 0.3}, 20, 120);
  EXPECT_EQ(bad.rolled_back, 20);
  EXPECT_EQ(slow.rolled_back, 20);
  EXPECT_EQ(RunMany(policy, {}, 5, 600).promoted, 5);
}

TEST(Trial, SplitsByKeyAndByWeight) {
  Trial trial({}, true, "m/2", At(0));
  Request request;
  for (const double weight : {0.0, 20.0, 60.0, 100.0}) {
    trial.SetStep(0, weight, At(0));
    int picked = 0, keyed = 0;
    for (int i = 0; i < 10'000; ++i) {
      picked += trial.PicksCandidate(request);
      Request sticky;
      sticky.parameters = {{"rollout_key", int64_t{i}}};
      keyed += trial.PicksCandidate(sticky);
      Request header;
      header.parameters = {{"Rollout-Key", std::to_string(i)}};
      EXPECT_EQ(trial.PicksCandidate(sticky), trial.PicksCandidate(header));
    }
    EXPECT_NEAR(picked, weight * 100, 200) << weight;
    EXPECT_NEAR(keyed, weight * 100, 200) << weight;
  }
}

TEST(Trial, KeepsClientsWhenTheWeightGrows) {
  Trial trial({}, true, "m/2", At(0));
  std::vector<int> candidates;
  for (const double weight : {10.0, 30.0, 90.0}) {
    trial.SetStep(0, weight, At(0));
    for (const int client : candidates) {
      Request request;
      request.parameters = {{"rollout_key", int64_t{client}}};
      EXPECT_TRUE(trial.PicksCandidate(request)) << client;
    }
    candidates.clear();
    for (int client = 0; client < 500; ++client) {
      Request request;
      request.parameters = {{"rollout_key", int64_t{client}}};
      if (trial.PicksCandidate(request)) candidates.push_back(client);
    }
  }
  EXPECT_NEAR(static_cast<double>(candidates.size()), 450, 40);
}

TEST(Trial, WeightsByHandStopTheSteps) {
  RolloutPolicy policy;
  policy.max_error_rate = policy.max_disagreement = policy.max_slowdown = std::nullopt;
  Trial trial(policy, true, "m/2", At(0));
  for (int i = 0; i < 200; ++i) trial.OnMirrored({}, "");
  EXPECT_EQ(trial.Decide(At(5)).move, Move::kNone) << "a step takes ten seconds";
  EXPECT_EQ(trial.Decide(At(11)).move, Move::kNextStep);
  trial.SetStep(1, 30.0, At(11));
  for (int i = 0; i < 200; ++i) trial.OnLive(true, {}, "");
  EXPECT_EQ(trial.Decide(At(100)).move, Move::kNone);
  trial.SetStep(2, {}, At(100));
  for (int i = 0; i < 99; ++i) trial.OnLive(true, {}, "");
  EXPECT_EQ(trial.Decide(At(200)).move, Move::kNone) << "a step needs 100 answers";
  trial.OnLive(true, {}, "");
  EXPECT_EQ(trial.Decide(At(200)).move, Move::kPromote);
}

TEST(Trial, EndsAfterItsTimeOut) {
  RolloutPolicy policy;
  policy.timeout_seconds = 60;
  for (const auto& [choice, move] : {std::pair(OnTimeout::kHold, Move::kHold),
                                     {OnTimeout::kRollback, Move::kRollback},
                                     {OnTimeout::kPromote, Move::kPromote}}) {
    policy.on_timeout = choice;
    Trial trial(policy, true, "m/2", At(0));
    EXPECT_EQ(trial.Decide(At(59)).move, Move::kNone);
    const Decision decision = trial.Decide(At(60));
    EXPECT_EQ(decision.move, move);
    EXPECT_NE(decision.reason.find("undecided after 60 s"), std::string::npos);
    if (choice != OnTimeout::kHold) continue;
    EXPECT_EQ(trial.Decide(At(61)).move, Move::kNone) << "says it once";
  }
}

TEST(Trial, ComparesDurationsOfEqualBatchesOnly) {
  Trial trial({}, true, "m/2", At(0));
  MirrorResult result;
  result.candidate = {Ending::kOk, milliseconds(9), 2};
  result.control = Outcome{Ending::kOk, milliseconds(5), 1};
  trial.OnMirrored(result, "");
  EXPECT_EQ(trial.Counts().pairs.timed, 0u);
  result.control->batch = 2;
  trial.OnMirrored(result, "");
  EXPECT_EQ(trial.Counts().pairs.timed, 1u);
  EXPECT_EQ(trial.Counts().pairs.slower, 1u);
}

TEST(Trial, IgnoresWhatSaysNothing) {
  Trial trial({}, true, "m/2", At(0));
  MirrorResult result;
  result.candidate.ending = Ending::kIgnored;
  trial.OnMirrored(result, "too many requests");
  trial.OnLive(true, {Ending::kIgnored, {}, 0}, "cancelled");
  const TrialCounts counts = trial.Counts();
  EXPECT_EQ(counts.mirrored, 1u);
  EXPECT_EQ(counts.candidate_live, 1u);
  EXPECT_EQ(counts.pairs.pairs, 0u);
  EXPECT_EQ(counts.candidate_errors, 0u);
}

}  // namespace
}  // namespace tern::server
