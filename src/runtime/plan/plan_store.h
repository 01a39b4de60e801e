// Cache of the plans of a model and its subgraphs. All sessions of the model share it.
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

// Thread-safe. Plans for different shapes compile concurrently. A request for a plan that another thread
// compiles waits until that plan is ready.
class PlanStore {
 public:
  using Make = std::function<Result<std::shared_ptr<const Plan>>()>;
  // Requests the plan for these values, or for all lengths of `range` if it is not null.
  struct Request {
    const Program& program;
    const std::vector<BoundValue>& bound;
    const LengthRange* range = nullptr;
    int64_t length = 0;  // length of the growing states
  };
  // Returns the cached plan or calls `make`. If `make` returned kUnsupported for a range, later calls with
  // the same range return this status without calling `make`. So clones do not repeat a compilation that
  // fails. `capacity` is the number of recently used plans of the graph that stay cached. Other plans live as
  // long as a session uses them. If `stop` fires while the call waits for another session, it returns
  // kCancelled.
  Result<std::shared_ptr<const Plan>> Get(const Request& request, int capacity, const Stop& stop,
                                          const Make& make);
  int made() const;  // number of plans compiled so far

 private:
  using Key = std::pair<const Program*, std::string>;
  std::shared_ptr<const Plan> Find(const Key& key, const Request& request);
  void Insert(const Key& key, const std::shared_ptr<const Plan>& plan, int capacity);
  Status Refusal(const Key& key);  // the error that Refuse stored, or ok
  void Refuse(const Key& key, const Status& why);

  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<const Plan>> plans_;
  std::map<const Program*, std::list<std::shared_ptr<const Plan>>> recent_;  // most recently used first
  std::map<Key, Status> refused_;  // ranges that one plan cannot serve
  int made_ = 0;
  KeyedMutex<Key> making_;
};

}  // namespace tern
