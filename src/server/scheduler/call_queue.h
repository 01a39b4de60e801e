// The queue of one model's requests. It has priority levels with limits and time-outs. Within a level,
// tenants take turns.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "server/core/call.h"
#include "server/core/model_config.h"

namespace tern::server {

inline constexpr Clock::time_point kNever = Clock::time_point::max();

// The place of a request in a level: its turn, then the order of arrival.
struct QueuePlace {
  uint64_t turn = 0, number = 0;
  auto operator<=>(const QueuePlace&) const = default;
};
struct QueuedCall;
using QueuePlaces = std::map<QueuePlace, std::shared_ptr<QueuedCall>>;

// One request in a queue or in an execution.
struct QueuedCall {
  std::shared_ptr<Call> call;
  int64_t items = 1;  // size of the batch dim
  Clock::time_point queued;
  Clock::time_point expires = kNever;
  Clock::time_point predicted = kNever;  // the time of the answer, if the model has a latency goal
  bool in_time = false;                  // predicted to meet the goal
  uint64_t order = 0;                    // number in the order of responses, if the model preserves it
  int executions = 0;    // how often the request was executed; more than once only in iterative sequences
  bool dropped = false;  // set by an execution: the request ends without the back end's knowledge
  bool again = false;    // set by an execution: Feeder::Done puts the request back into the queue
  // Written by the execution. They are copied to the call with its last response, because Drain may answer
  // the call while the execution runs.
  CallTimes times;
  std::atomic<bool> answered{false};  // set by the thread that sends the last response of an executed request

 private:
  friend class CallQueue;
  bool waits_ = false, delayed_ = false;
  uint64_t level_ = 0;
  QueuePlaces::iterator place_;
};
using QueuedCallPtr = std::shared_ptr<QueuedCall>;

// A request that gets an error instead of an execution.
struct RejectedCall {
  QueuedCallPtr call;
  Status status;
  std::chrono::milliseconds retry_after{0};
};

// Start-time fair queueing: each request has a turn (its start tag). It is the sum of the items of its
// tenant's earlier requests divided by the tenant's weight, but at least the turn of the last request that
// was taken. So a tenant that sends few requests waits only for few requests of a tenant that sends many.
// Without tenants, requests keep their order. Not thread-safe.
class CallQueue {
 public:
  explicit CallQueue(const BatchingConfig& config) : config_(config) {}

  // Puts a request into the level of its priority. Fails with kUnavailable if that level is full. One tenant
  // may fill only half of it.
  Status Push(const QueuedCallPtr& call, Clock::time_point now);
  // Returns when a request that is pushed now would be rejected for its time-out, or kNever.
  Clock::time_point RejectedAt(const Request& request, Clock::time_point now) const;
  // Removes a request. Returns false if it is not in the queue.
  bool Erase(QueuedCall& call);
  // Removes a request that is executed next.
  void Take(QueuedCall& call);
  // Moves expired requests to `rejected`, or behind all other requests of their level, as the level's
  // timeout_action says.
  void Expire(Clock::time_point now, std::vector<RejectedCall>& rejected);
  // Empties the queue. Returns the requests in order.
  std::vector<QueuedCallPtr> Clear();

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  int64_t items() const { return items_; }
  Clock::time_point NextExpiry() const { return expiries_.empty() ? kNever : expiries_.begin()->first; }

  // Calls visit(call) for the requests in the order of execution, until `visit` returns false.
  template <class F> void ForEach(const F& visit) const {
    for (const auto& [priority, level] : levels_)
      for (const auto* list : {&level.waiting, &level.delayed})
        for (const auto& [place, call] : *list)
          if (!visit(call)) return;
  }
  // Returns the number of items that are executed before a new request of this priority and tenant.
  int64_t ItemsBefore(uint64_t priority, uint32_t tenant = 0) const;

 private:
  struct Share {
    uint64_t next = 0;  // the turn of the tenant's next request
    size_t calls = 0;   // requests that wait
  };
  struct Level {
    QueuePlaces waiting, delayed;
    int64_t items = 0;
    uint64_t turn = 0;                  // the turn of the request that was taken last
    std::map<uint32_t, Share> tenants;  // the tenants since the level was last empty
    size_t size() const { return waiting.size() + delayed.size(); }
    uint64_t NextTurn(uint32_t tenant) const;
  };
  uint64_t LevelOf(uint64_t priority) const;
  const QueuePolicy& PolicyOf(uint64_t level) const;
  void Forget(QueuedCall& call);  // removes it from expiries_

  const BatchingConfig config_;
  std::map<uint64_t, Level> levels_;
  std::multimap<Clock::time_point, QueuedCall*> expiries_;
  size_t size_ = 0;
  int64_t items_ = 0;
  uint64_t number_ = 0;
};

}  // namespace tern::server
