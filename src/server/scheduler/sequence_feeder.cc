#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "server/scheduler/batch_builder.h"
#include "server/scheduler/sequence.h"

namespace tern::server {
namespace {

using SequencePtr = std::shared_ptr<Sequence>;

// Each sequence stays on one instance. With the direct strategy, it also keeps its slot in the batch. In an
// iterative model, a sequence is one request, which ends when its execution does not ask for another
// iteration. Between two iterations, the request waits here like any other, so that iterations of several
// requests share batches.
class SequenceFeeder : public Feeder {
 public:
  SequenceFeeder(const ModelConfig& config, SequenceInputs inputs, bool tell_ends)
      : config_(config), sequence_(*config.sequence), inputs_(std::move(inputs)), tell_ends_(tell_ends) {
    const int batch = std::max(1, config.max_batch_size);
    const int slots = direct() || sequence_.max_candidates <= 0 ? batch : sequence_.max_candidates;
    slots_.assign(static_cast<size_t>(config.instances),
                  std::vector<SequencePtr>(static_cast<size_t>(slots)));
  }

  Status Push(const QueuedCallPtr& call, Clock::time_point now, std::chrono::milliseconds&) override {
    SequenceInfo& info = call->call->request.sequence;
    const bool generated = sequence_.iterative && NoSequence(info);
    if (generated) info = NewSequence();
    TERN_TRY(Check(*call));
    SequencePtr& sequence = by_id_[info.id];
    if (!sequence) {
      sequence = std::make_shared<Sequence>();
      sequence->id = info.id;
      sequence->generated = generated;
      if (!Place(sequence)) backlog_.push_back(sequence);
    }
    call->queued = sequence->last = now;
    sequence->waiting.push_back(call);
    owners_[call.get()] = sequence;
    CheckIdleAfter(now);
    return {};
  }

  bool Erase(QueuedCall& call) override {
    const auto found = owners_.find(&call);
    if (found == owners_.end()) return false;
    const SequencePtr sequence = found->second;
    owners_.erase(found);
    std::erase_if(sequence->waiting, [&](const QueuedCallPtr& c) { return c.get() == &call; });
    // If the first request of a sequence is removed, the sequence has not begun and is removed too.
    const bool ends = sequence_.iterative || call.call->request.sequence.start;
    const bool begun = sequence_.iterative && call.executions > 0;
    if (!sequence->running && (begun || (ends && sequence->waiting.empty()))) End(sequence);
    return true;
  }

  Pick Take(int instance, Clock::time_point now, std::vector<RejectedCall>& rejected) override {
    for (QueuedCallPtr& call : std::exchange(lost_, {})) {
      const std::string id = call->call->request.sequence.id;
      rejected.push_back({std::move(call), Lost(id), {}});
    }
    std::vector<SequencePtr> ended = TakeEnded(instance);
    Pick pick = direct() ? TakeDirect(instance, now) : TakeOldest(instance, now);
    pick.ended = std::move(ended);
    for (size_t i = 0; i < pick.calls.size(); ++i) {
      if (!pick.calls[i]) continue;
      pick.sequences[i]->waiting.pop_front();
      pick.sequences[i]->running = pick.sequences[i]->known = true;
      owners_.erase(pick.calls[i].get());
    }
    return pick;
  }

  // Ends sequences that were idle for too long.
  void Expire(Clock::time_point now, std::vector<RejectedCall>&) override {
    if (now < next_check_) return;
    std::vector<SequencePtr> idle;
    next_check_ = kNever;
    for (const auto& [id, sequence] : by_id_) {
      if (!sequence->waiting.empty() || sequence->running || sequence->ending || sequence->telling) continue;
      if (sequence->last + sequence_.max_idle <= now)
        idle.push_back(sequence);
      else
        next_check_ = std::min(next_check_, sequence->last + sequence_.max_idle);
    }
    for (const SequencePtr& sequence : idle) End(sequence);
  }
  Clock::time_point NextTimer() const override { return next_check_; }

  std::vector<QueuedCallPtr> Clear() override {
    std::vector<QueuedCallPtr> all = std::exchange(lost_, {});
    for (const auto& [id, sequence] : by_id_) {
      all.insert(all.end(), sequence->waiting.begin(), sequence->waiting.end());
      sequence->waiting.clear();
    }
    owners_.clear();
    return all;
  }
  size_t size() const override { return owners_.size(); }
  bool HasWork() const override { return !owners_.empty() || ending_ > 0 || !lost_.empty(); }

  void LoseSequences(std::vector<RejectedCall>& rejected) override {
    if (!tell_ends_ && !sequence_.states.empty()) return;  // the server keeps the states
    std::vector<SequencePtr> known;
    for (const auto& [id, sequence] : by_id_)
      if (sequence->known) known.push_back(sequence);
    for (const SequencePtr& sequence : known) {
      sequence->known = false;
      if (std::exchange(sequence->ending, false)) --ending_;
      RejectLost(sequence, rejected);
      sequence->lost = sequence->running;
      End(sequence);
    }
  }

  Status Prepare(const Pick& pick, Batch& batch) override { return inputs_.Add(pick, batch); }
  void Finish(const Pick& pick, std::vector<WireTensor>& outputs) override { inputs_.Keep(pick, outputs); }

  void Done(int, const Pick& pick, int, std::chrono::nanoseconds, std::chrono::nanoseconds,
            Clock::time_point now) override {
    for (const SequencePtr& sequence : pick.ended) sequence->telling = false;
    for (size_t i = 0; i < pick.calls.size(); ++i) {
      if (!pick.calls[i]) continue;
      const SequencePtr& sequence = pick.sequences[i];
      sequence->running = false;
      sequence->last = now;
      CheckIdleAfter(now);
      if (std::exchange(sequence->lost, false)) {
        sequence->known = false;
        if (std::exchange(pick.calls[i]->again, false)) lost_.push_back(pick.calls[i]);
        End(sequence);
        continue;
      }
      if (std::exchange(pick.calls[i]->again, false)) {
        PutBack(sequence, pick.calls[i], now);
        continue;
      }
      if (!sequence_.iterative && !pick.calls[i]->call->request.sequence.end) continue;
      sequence->known = pick.calls[i]->dropped;
      End(sequence);
    }
    for (const SequencePtr& sequence : pick.ended) {
      const auto found = by_id_.find(sequence->id);
      if (found != by_id_.end() && found->second == sequence && !sequence->known) End(sequence);
    }
  }

 private:
  bool direct() const { return sequence_.strategy == SequenceStrategy::kDirect; }

  static bool NoSequence(const SequenceInfo& info) {
    return info.id.empty() || (info.numeric && info.id == "0");
  }
  // The type of the model's ids. A model without a control for ids may still read them as signed numbers.
  DType IdType() const {
    for (const ControlInput& control : sequence_.controls)
      if (control.kind == ControlInput::Kind::kCorrelationId) return control.dtype;
    return DType::kI64;
  }
  static uint64_t LargestId(DType type) {
    return type == DType::kI32   ? std::numeric_limits<int32_t>::max()
           : type == DType::kU32 ? std::numeric_limits<uint32_t>::max()
           : type == DType::kI64 ? std::numeric_limits<int64_t>::max()
                                 : std::numeric_limits<uint64_t>::max();
  }

  // Returns a sequence with an id that no other sequence has. Ids count down from the largest one, which
  // clients seldom use.
  SequenceInfo NewSequence() {
    constexpr uint64_t kIds = uint64_t{1} << 30;  // ids repeat after this many; fewer sequences exist at the
                                                  // same time
    const DType type = IdType();
    SequenceInfo info{"", type != DType::kString, true, false};
    do info.id = StrCat(LargestId(type) - generated_++ % kIds);
    while (by_id_.contains(info.id));
    return info;
  }

  // A sequence of an iterative model is never idle: its request waits or runs.
  void CheckIdleAfter(Clock::time_point now) {
    if (!sequence_.iterative) next_check_ = std::min(next_check_, now + sequence_.max_idle);
  }

  // The next iteration comes before other requests with the same id.
  void PutBack(const SequencePtr& sequence, const QueuedCallPtr& call, Clock::time_point now) {
    call->call->request.sequence.start = false;
    call->queued = now;
    sequence->waiting.push_front(call);
    owners_[call.get()] = sequence;
  }

  Status Check(const QueuedCall& call) const {
    const SequenceInfo& info = call.call->request.sequence;
    if (call.items > 1)
      return InvalidArgument("inference request to model '", config_.name,
                             "' must specify batch-size 1 due to requirements of sequence batcher");
    if (NoSequence(info))
      return InvalidArgument("inference request to model '", config_.name,
                             "' must specify a non-zero or non-empty correlation ID");
    for (const ControlInput& control : sequence_.controls) {
      if (control.kind != ControlInput::Kind::kCorrelationId) continue;
      if (info.numeric != (control.dtype != DType::kString))
        return InvalidArgument("sequence batching control '", control.name, "' data-type is '",
                               info.numeric ? "UINT64" : "BYTES", "', but model '", config_.name,
                               "' expects '", WireName(control.dtype), "'");
    }
    const auto known = by_id_.find(info.id);
    if (known != by_id_.end() && known->second->generated)
      return InvalidArgument("inference request to model '", config_.name, "' has sequence id ", info.id,
                             ", which the server gave to another request; choose another id");
    if (!info.start && (known == by_id_.end() || Ended(*known->second)))
      return InvalidArgument("inference request for sequence ", info.id, " to model '", config_.name,
                             "' must specify the START flag on the first request of the sequence");
    return {};
  }

  // Assigns a free slot of the least used instance to the sequence. Returns false if there is none.
  bool Place(const SequencePtr& sequence) {
    size_t best = 0;
    int64_t most_free = 0;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const auto free = std::count(slots_[i].begin(), slots_[i].end(), nullptr);
      if (free > most_free) best = i, most_free = free;
    }
    if (most_free == 0) return false;
    *std::find(slots_[best].begin(), slots_[best].end(), nullptr) = sequence;
    sequence->instance = static_cast<int>(best);
    return true;
  }

  // Returns whether the sequence only waits until the back end is told of its end.
  static bool Ended(const Sequence& sequence) {
    return sequence.waiting.empty() && !sequence.running && (sequence.ending || !sequence.known);
  }

  // Removes the sequence, unless requests of its id wait. If the back end must be told, the sequence keeps
  // its slot until the back end knows. So a new sequence with the same id begins only after that.
  void End(const SequencePtr& sequence) {
    if (tell_ends_ && sequence->known) {
      if (!std::exchange(sequence->ending, true)) ++ending_;
    } else if (sequence->waiting.empty() && !sequence->running && !sequence->telling) {
      Remove(sequence);
    }
  }

  Status Lost(const std::string& id) const {
    return Unavailable("sequence ", id, " of model '", config_.name,
                       "' was lost when the model's process ended");
  }

  // Rejects the waiting requests, up to the one that starts a new sequence with the same id.
  void RejectLost(const SequencePtr& sequence, std::vector<RejectedCall>& rejected) {
    auto& waiting = sequence->waiting;
    while (!waiting.empty() &&
           !(waiting.front()->call->request.sequence.start && waiting.front()->executions == 0)) {
      owners_.erase(waiting.front().get());
      rejected.push_back({waiting.front(), Lost(sequence->id), {}});
      waiting.pop_front();
    }
  }

  std::vector<SequencePtr> TakeEnded(int instance) {
    std::vector<SequencePtr> ended;
    if (ending_ == 0) return ended;
    for (const SequencePtr& sequence : slots_[static_cast<size_t>(instance)]) {
      if (!sequence || !sequence->ending) continue;
      sequence->ending = sequence->known = false;
      sequence->telling = true;
      sequence->states.clear();
      --ending_;
      ended.push_back(sequence);
    }
    return ended;
  }

  void Remove(const SequencePtr& removed) {
    // A copy, because `removed` may refer to an element of a container that changes here.
    const SequencePtr sequence = removed;
    by_id_.erase(sequence->id);
    if (sequence->instance < 0) {
      std::erase(backlog_, sequence);
      return;
    }
    auto& slots = slots_[static_cast<size_t>(sequence->instance)];
    std::replace(slots.begin(), slots.end(), sequence, SequencePtr());
    if (backlog_.empty() || !Place(backlog_.front())) return;
    backlog_.pop_front();
  }

  bool CanJoin(const SequencePtr& first, const SequencePtr& other) const {
    return CanShareBatch(config_, first->waiting.front()->call->request,
                         other->waiting.front()->call->request) &&
           inputs_.SameStates(*first, *other);
  }

  // Takes a request for each slot, up to the last slot that has one. A slot without a request is empty. If
  // the model has no READY control, which marks empty slots, such a slot is left out.
  Pick TakeDirect(int instance, Clock::time_point now) const {
    Pick pick;
    SequencePtr first;
    size_t used = 0;
    int requests = 0;
    Clock::time_point oldest = kNever;
    for (const SequencePtr& sequence : slots_[static_cast<size_t>(instance)]) {
      const bool ready = sequence && !sequence->waiting.empty() && (!first || CanJoin(first, sequence));
      if (!ready && !inputs_.has_ready()) continue;
      pick.calls.push_back(ready ? sequence->waiting.front() : nullptr);
      pick.sequences.push_back(ready ? sequence : nullptr);
      if (!ready) continue;
      if (!first) first = sequence;
      used = pick.calls.size();
      oldest = std::min(oldest, pick.calls.back()->queued);
      ++requests;
    }
    if (requests > 0 && requests < sequence_.min_slots && now < oldest + sequence_.max_queue_delay) {
      Pick later;
      later.again = oldest + sequence_.max_queue_delay;
      return later;
    }
    pick.calls.resize(used);
    pick.sequences.resize(used);
    return pick;
  }

  // Takes at most one request of each sequence, the oldest first.
  Pick TakeOldest(int instance, Clock::time_point now) const {
    std::vector<SequencePtr> ready;
    for (const SequencePtr& sequence : slots_[static_cast<size_t>(instance)])
      if (sequence && !sequence->waiting.empty()) ready.push_back(sequence);
    std::stable_sort(ready.begin(), ready.end(), [](const SequencePtr& a, const SequencePtr& b) {
      return a->waiting.front()->queued < b->waiting.front()->queued;
    });
    Pick pick;
    const auto limit = static_cast<size_t>(std::max(1, config_.max_batch_size));
    for (const SequencePtr& sequence : ready) {
      if (pick.calls.size() == limit || (!pick.calls.empty() && !CanJoin(ready[0], sequence))) break;
      pick.calls.push_back(sequence->waiting.front());
      pick.sequences.push_back(sequence);
    }
    if (pick.calls.empty() || pick.calls.size() == limit) return pick;
    const auto& preferred = sequence_.preferred_batch_sizes;
    const Clock::time_point due = pick.calls[0]->queued + sequence_.max_queue_delay;
    if (now >= due || std::count(preferred.begin(), preferred.end(), static_cast<int>(pick.calls.size())) > 0)
      return pick;
    Pick later;
    later.again = due;
    return later;
  }

  const ModelConfig& config_;
  const SequenceConfig& sequence_;
  const SequenceInputs inputs_;
  const bool tell_ends_;
  size_t ending_ = 0;                            // sequences with `ending`
  std::vector<std::vector<SequencePtr>> slots_;  // by instance
  std::deque<SequencePtr> backlog_;
  std::unordered_map<std::string, SequencePtr> by_id_;
  std::unordered_map<QueuedCall*, SequencePtr> owners_;  // the sequence of each waiting request
  Clock::time_point next_check_ = kNever;
  uint64_t generated_ = 0;
  std::vector<QueuedCallPtr>
      lost_;  // requests that an execution wanted to repeat when their sequence was lost
};

}  // namespace

Result<std::unique_ptr<Feeder>> MakeSequenceFeeder(const ModelConfig& config, bool tell_ends) {
  TERN_ASSIGN(SequenceInputs inputs, SequenceInputs::Create(config));
  return std::unique_ptr<Feeder>(std::make_unique<SequenceFeeder>(config, std::move(inputs), tell_ends));
}

}  // namespace tern::server
