#include "runtime/plan/step_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <queue>

namespace tern {
namespace {

// The exact search visits at most kMaxStates states, and at most kMaxWork / (number of steps) states. This
// limits its time and memory.
constexpr size_t kMaxStates = 1000, kMaxWork = 100'000;

// Relations between the blocks and steps of a problem.
struct Links {
  explicit Links(const OrderProblem& p)
      : readers(p.bytes.size()), produced(p.bytes.size()), waiting(p.steps.size()) {
    for (size_t s = 0; s < p.steps.size(); ++s) {
      for (int b : p.steps[s].reads) ++readers[static_cast<size_t>(b)];
      for (int b : p.steps[s].writes) produced[static_cast<size_t>(b)] = true;
      for (int before : p.steps[s].after) waiting[static_cast<size_t>(before)].push_back(static_cast<int>(s));
    }
  }
  std::vector<int> readers;               // per block: number of steps that read it
  std::vector<bool> produced;             // per block: whether a step writes it
  std::vector<std::vector<int>> waiting;  // per step: steps that must run after it
};

// A state of the search: the steps that have run, and the memory that is alive.
class State {
 public:
  State(const OrderProblem& p, const Links& links) : p_(&p), links_(&links), unread_(links.readers) {
    for (const OrderStep& step : p.steps) missing_.push_back(static_cast<int>(step.after.size()));
    for (size_t s = 0; s < p.steps.size(); ++s)
      if (missing_[s] == 0) ready_.push_back(static_cast<int>(s));
  }

  const std::vector<int>& ready() const { return ready_; }  // ascending
  const std::vector<int>& order() const { return order_; }
  size_t peak() const { return peak_; }
  bool done() const { return ready_.empty(); }

  size_t BytesFreed(int step) const {
    size_t bytes = 0;
    for (int b : p_->steps[At(step)].reads)
      if (unread_[At(b)] == 1 && IsFreed(b)) bytes += p_->bytes[At(b)];
    for (int b : p_->steps[At(step)].writes)
      if (unread_[At(b)] == 0 && IsFreed(b)) bytes += p_->bytes[At(b)];
    return bytes;
  }
  size_t BytesWritten(int step) const {
    size_t bytes = 0;
    for (int b : p_->steps[At(step)].writes) bytes += p_->bytes[At(b)];
    return bytes;
  }
  // Returns the live bytes while the step runs.
  size_t BytesDuring(int step) const {
    const size_t written = BytesWritten(step);
    return held_ + written - (p_->steps[At(step)].overwrites ? std::min(written, BytesFreed(step)) : 0);
  }
  bool Shrinks(int step) const { return BytesWritten(step) <= BytesFreed(step); }

  void Run(int step) {
    peak_ = std::max(peak_, BytesDuring(step));
    held_ += BytesWritten(step);
    held_ -= BytesFreed(step);
    for (int b : p_->steps[At(step)].reads) --unread_[At(b)];
    ready_.erase(std::find(ready_.begin(), ready_.end(), step));
    for (int next : links_->waiting[At(step)])
      if (--missing_[At(next)] == 0)
        ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), next), next);
    order_.push_back(step);
  }

  // Runs all ready steps that do not increase the live bytes and need at most `allowed` bytes while they run.
  // Running such steps first never increases the peak of the order.
  void RunFree(size_t allowed) {
    for (size_t i = 0; i < ready_.size();) {
      const int step = ready_[i];
      if (Shrinks(step) && BytesDuring(step) <= std::max(allowed, peak_)) {
        Run(step);
        i = 0;
      } else {
        ++i;
      }
    }
  }

  // Returns the set of steps that have run, as a bit set.
  std::vector<uint64_t> Key() const {
    std::vector<uint64_t> bits(p_->steps.size() / 64 + 1);
    for (int s : order_) bits[At(s) / 64] |= uint64_t{1} << (At(s) % 64);
    return bits;
  }

 private:
  static size_t At(int i) { return static_cast<size_t>(i); }
  bool IsFreed(int block) const { return links_->produced[At(block)] && !p_->live_out[At(block)]; }

  const OrderProblem* p_;
  const Links* links_;
  // `unread_` contains the number of readers of each block that have not run. `missing_` contains the number
  // of steps for which each step waits.
  std::vector<int> unread_, missing_;
  std::vector<int> ready_, order_;
  size_t held_ = 0, peak_ = 0;
};

// Returns the largest number of bytes that any single step reads and writes. The peak of every order is at
// least this number.
size_t LowerBound(const OrderProblem& p, const Links& links) {
  size_t bound = 0;
  for (const OrderStep& step : p.steps) {
    size_t reads = 0, writes = 0;
    for (int b : step.reads)
      if (links.produced[static_cast<size_t>(b)]) reads += p.bytes[static_cast<size_t>(b)];
    for (int b : step.writes) writes += p.bytes[static_cast<size_t>(b)];
    bound = std::max(bound, step.overwrites ? std::max(reads, writes) : reads + writes);
  }
  return bound;
}

// Searches best-first by peak, so the first complete state is optimal. Among states with the same peak,
// prefers the one with more steps done, then the one that was found first. Returns nullopt if no order has a
// peak below `below`, or if a limit is reached.
std::optional<State> Search(const OrderProblem& p, const Links& links, size_t bound, size_t below) {
  using Entry = std::pair<std::pair<size_t, size_t>, size_t>;  // peak, remaining steps, index of the state
  std::vector<State> states;
  std::map<std::vector<uint64_t>, size_t> least;  // lowest peak, by the set of steps that have run
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  const auto add = [&](State state) {
    state.RunFree(bound);
    const size_t peak = std::max(state.peak(), bound);
    if (peak >= below) return;
    const auto [it, fresh] = least.emplace(state.Key(), peak);
    if (!fresh && it->second <= peak) return;
    it->second = peak;
    open.push({{peak, p.steps.size() - state.order().size()}, states.size()});
    states.push_back(std::move(state));
  };
  add(State(p, links));
  const size_t max_states = std::min(kMaxStates, kMaxWork / p.steps.size());
  while (!open.empty() && states.size() < max_states) {
    const State state = states[open.top().second];
    open.pop();
    if (state.done()) return state;
    for (int step : state.ready()) {
      State next = state;
      next.Run(step);
      add(std::move(next));
    }
  }
  return std::nullopt;
}

// Always runs the step that increases the peak least. Among steps that increase it equally, prefers the step
// that leaves the fewest live bytes, then the first step.
State Greedy(const OrderProblem& p, const Links& links, size_t bound) {
  State state(p, links);
  for (state.RunFree(bound); !state.done(); state.RunFree(bound)) {
    const auto cost = [&](int step) {
      return std::make_pair(
          std::max({state.BytesDuring(step), state.peak(), bound}),
          static_cast<int64_t>(state.BytesWritten(step)) - static_cast<int64_t>(state.BytesFreed(step)));
    };
    state.Run(*std::min_element(state.ready().begin(), state.ready().end(),
                                [&](int a, int b) { return cost(a) < cost(b); }));
  }
  return state;
}

std::vector<int> OriginalOrder(const OrderProblem& p) {
  std::vector<int> order(p.steps.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

size_t PeakOf(const OrderProblem& problem, const Links& links, const std::vector<int>& order) {
  State state(problem, links);
  for (int step : order) state.Run(step);
  return state.peak();
}

}  // namespace

size_t PeakOf(const OrderProblem& problem, const std::vector<int>& order) {
  return PeakOf(problem, Links(problem), order);
}

std::vector<int> FindOrder(const OrderProblem& problem) {
  const Links links(problem);
  const std::vector<int> original = OriginalOrder(problem);
  const size_t bound = LowerBound(problem, links);
  size_t best = PeakOf(problem, links, original);
  if (best <= bound) return original;
  std::vector<int> order = original;
  const State greedy = Greedy(problem, links, bound);
  if (greedy.peak() < best) best = greedy.peak(), order = greedy.order();
  if (best > bound)
    if (const auto found = Search(problem, links, bound, best)) order = found->order();
  return order;
}

}  // namespace tern
