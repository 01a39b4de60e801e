// Plans of a model and of the graphs inside of it, shared by all its sessions.
#pragma once
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/keyed_mutex.h"
#include "runtime/plan/plan.h"

namespace tern {

// Thread-safe. Plans for different shapes are made at the same time; a plan that somebody makes is waited
// for.
class PlanStore {
 public:
  using Make = std::function<Result<std::shared_ptr<const Plan>>()>;
  // What a plan is wanted for: these values, or, with a range, all its lengths.
  struct Wanted {
    const Program& program;
    const std::vector<BoundValue>& bound;
    const LengthRange* range = nullptr;
    int64_t length = 0;  // of the growing states, with a range
  };
  // The plan, made by `make` where there is none. capacity: how many plans of the graph are kept for later;
  // others live as long as a session uses them. stop: ends the wait for another session, with kCancelled.
  Result<std::shared_ptr<const Plan>> Get(const Wanted& wanted, int capacity, const Stop& stop,
                                          const Make& make);
  int made() const;  // ever

 private:
  using Key = std::pair<const Program*, std::string>;
  std::shared_ptr<const Plan> Find(const Key& key, const Wanted& wanted);
  void Insert(const Key& key, const std::shared_ptr<const Plan>& plan, int capacity);

  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Plan>> plans_;
  std::map<const Program*, std::list<std::shared_ptr<const Plan>>> kept_;  // last used first
  int made_ = 0;
  KeyedMutex<Key> making_;
};

}  // namespace tern
