// While a rollout runs, the registry gives these objects to requests without a version and to those with the
// label `stable`. Each object forwards requests to one of the two versions and tells the trial how that
// version answered.
#pragma once
#include <list>
#include <memory>
#include <mutex>

#include "server/rollout/mirror.h"
#include "server/rollout/trial.h"

namespace tern::server {

// Everything that the arms of one rollout share.
struct TrialParts {
  std::shared_ptr<Trial> trial;
  std::shared_ptr<ModelVersion> stable, candidate;
  std::shared_ptr<VersionCounters> stable_counters, candidate_counters;
  std::shared_ptr<RequestMirror> mirror;  // null: requests are not copied
};

class LiveObserver;

// Requests that the candidate has not answered yet. Thread-safe.
class LiveCalls {
 public:
  void Add(const std::shared_ptr<LiveObserver>& observer);
  // Counts the requests that began before `limit` as failed. Does not answer them.
  void Sweep(Clock::time_point limit);

 private:
  std::mutex mutex_;
  std::list<std::weak_ptr<LiveObserver>> calls_;
};

struct Arms {
  std::shared_ptr<ModelVersion> splitter;  // for requests without a version
  std::shared_ptr<ModelVersion> stable;    // for requests with the label `stable`
  std::shared_ptr<LiveCalls> live;         // of the candidate
};

Arms MakeArms(TrialParts parts);

}  // namespace tern::server
