// One rollout while it runs: chooses the version that answers a request, counts what was observed, and
// decides what happens next. It knows no model and no clock: times are arguments.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "server/core/message.h"
#include "server/rollout/evidence.h"
#include "server/rollout/policy.h"

namespace tern::server {

enum class Ending {
  kOk,
  kFailed,
  kIgnored  // says nothing about the version: cancelled by the client, or refused because of overload
};

// How a version answered a request.
struct Outcome {
  Ending ending = Ending::kOk;
  std::chrono::nanoseconds duration{0};  // without the time in the queue
  int batch = 0;                         // durations of different batch sizes are not compared; 0: not known
};

// A request that both versions answered.
struct MirrorResult {
  Outcome stable, candidate;
  bool hung = false;                  // the candidate did not answer in time
  std::optional<std::string> differ;  // set if outputs were compared; an empty text: they agree
  std::optional<Outcome> control;     // of the stable version, under the candidate's conditions
};

// Counts of one version of a model, for the metrics. They outlive a rollout.
struct VersionCounters {
  std::atomic<uint64_t> live{0}, mirrored{0}, control{0}, errors{0}, differ{0}, dropped{0};
};

struct TrialCounts {
  PairCounts pairs;
  uint64_t candidate_live = 0, stable_live = 0, mirrored = 0, candidate_errors = 0, hung = 0;
  std::string difference, error;  // the last ones
};

enum class Move { kNone, kNextStep, kPromote, kRollback, kHold };
struct Decision {
  Move move = Move::kNone;
  std::string reason;  // with the numbers that led to it
};

// Thread-safe.
class Trial {
 public:
  // `mirrors`: requests of this model can be copied. `salt` makes the choice of keys that get the candidate
  // different for each model and version.
  Trial(const RolloutPolicy& policy, bool mirrors, std::string salt, Clock::time_point now);

  // Sets the step, or the weight that a person chose. With such a weight, the trial no longer advances.
  void SetStep(size_t step, std::optional<double> weight, Clock::time_point now);
  double weight() const { return weight_.load(std::memory_order_relaxed); }

  // Returns whether the candidate answers this request. While the weight does not change, all requests with
  // the same key get the same version. While it only rises, a key that gets the candidate keeps it.
  bool PicksCandidate(const Request& request) const;

  // Counts a version's answer to a client's request.
  void OnLive(bool candidate, const Outcome& outcome, const std::string& error);
  void OnMirrored(const MirrorResult& result, const std::string& error);

  // Decides what follows at `now`. Returns kRollback if a test has a bad verdict. kNextStep and kPromote
  // require good verdicts of all tests that this step can measure. They also require that the step has lasted
  // long enough and answered enough requests. If these conditions are not met before the time-out, on_timeout
  // of the policy decides. With a weight that a person chose, only kRollback is possible.
  Decision Decide(Clock::time_point now);
  std::vector<TestResult> Tests() const;
  TrialCounts Counts() const;
  const RolloutPolicy& policy() const { return policy_; }
  bool mirrors() const { return mirrors_; }

 private:
  bool Measurable(const TestResult& test) const;  // in this step; called under the lock
  std::vector<TestResult> Judge() const;
  void AddPair(const Outcome& candidate, const Outcome& stable);
  void AddTimes(const Outcome& candidate, const Outcome& stable);
  bool StepIsOver(Clock::time_point now) const;

  const RolloutPolicy policy_;
  const bool mirrors_;
  const uint64_t salt_;
  TestLimits limits_;
  std::atomic<double> weight_{0};
  mutable std::atomic<uint64_t> unkeyed_{0};

  mutable std::mutex mutex_;
  TrialCounts counts_;
  // Answers that wait to be paired with one of the other version. At most one of the two has elements.
  std::deque<Outcome> candidates_, stables_;
  size_t step_ = 0;
  bool by_hand_ = false;
  bool held_ = false;  // kHold was returned
  Clock::time_point began_, step_began_;
  uint64_t step_live_ = 0, step_mirrored_ = 0;  // the candidate's answers at the start of the step
};

}  // namespace tern::server
