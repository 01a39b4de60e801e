#include "runtime/plan/step_order.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <queue>

namespace tern {
namespace {

// Of the exact search: states, and states times steps, which is what they take to make and to keep.
constexpr size_t kMostStates = 1000, kMostWork = 100'000;

// Who reads and who waits, once for a problem.
struct Links {
  explicit Links(const OrderProblem& p)
      : readers(p.bytes.size()), made(p.bytes.size()), waiting(p.steps.size()) {
    for (size_t s = 0; s < p.steps.size(); ++s) {
      for (int b : p.steps[s].reads) ++readers[static_cast<size_t>(b)];
      for (int b : p.steps[s].makes) made[static_cast<size_t>(b)] = true;
      for (int before : p.steps[s].after) waiting[static_cast<size_t>(before)].push_back(static_cast<int>(s));
    }
  }
  std::vector<int> readers;               // per block
  std::vector<bool> made;                 // per block
  std::vector<std::vector<int>> waiting;  // per step
};

// Some steps have run.
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

  size_t Freed(int step) const {
    size_t bytes = 0;
    for (int b : p_->steps[At(step)].reads)
      if (unread_[At(b)] == 1 && Ends(b)) bytes += p_->bytes[At(b)];
    for (int b : p_->steps[At(step)].makes)
      if (unread_[At(b)] == 0 && Ends(b)) bytes += p_->bytes[At(b)];
    return bytes;
  }
  size_t Made(int step) const {
    size_t bytes = 0;
    for (int b : p_->steps[At(step)].makes) bytes += p_->bytes[At(b)];
    return bytes;
  }
  // Held while the step runs.
  size_t During(int step) const {
    const size_t made = Made(step);
    return held_ + made - (p_->steps[At(step)].over ? std::min(made, Freed(step)) : 0);
  }
  bool Shrinks(int step) const { return Made(step) <= Freed(step); }

  void Run(int step) {
    peak_ = std::max(peak_, During(step));
    held_ += Made(step);
    held_ -= Freed(step);
    for (int b : p_->steps[At(step)].reads) --unread_[At(b)];
    ready_.erase(std::find(ready_.begin(), ready_.end(), step));
    for (int next : links_->waiting[At(step)])
      if (--missing_[At(next)] == 0)
        ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), next), next);
    order_.push_back(step);
  }

  // Steps that leave no more than they find, and never hold more than `enough`, may as well run at once: no
  // order is worse for it.
  void RunFree(size_t enough) {
    for (size_t i = 0; i < ready_.size();) {
      const int step = ready_[i];
      if (Shrinks(step) && During(step) <= std::max(enough, peak_)) {
        Run(step);
        i = 0;
      } else {
        ++i;
      }
    }
  }

  // Which steps have run.
  std::vector<uint64_t> Key() const {
    std::vector<uint64_t> bits(p_->steps.size() / 64 + 1);
    for (int s : order_) bits[At(s) / 64] |= uint64_t{1} << (At(s) % 64);
    return bits;
  }

 private:
  static size_t At(int i) { return static_cast<size_t>(i); }
  bool Ends(int block) const { return links_->made[At(block)] && !p_->kept[At(block)]; }

  const OrderProblem* p_;
  const Links* links_;
  std::vector<int> unread_, missing_;  // readers of a block, steps that a step waits for
  std::vector<int> ready_, order_;
  size_t held_ = 0, peak_ = 0;
};

// No order holds less: every step holds what it reads and makes.
size_t LowerBound(const OrderProblem& p, const Links& links) {
  size_t bound = 0;
  for (const OrderStep& step : p.steps) {
    size_t reads = 0, makes = 0;
    for (int b : step.reads)
      if (links.made[static_cast<size_t>(b)]) reads += p.bytes[static_cast<size_t>(b)];
    for (int b : step.makes) makes += p.bytes[static_cast<size_t>(b)];
    bound = std::max(bound, step.over ? std::max(reads, makes) : reads + makes);
  }
  return bound;
}

// States by their peak, least first: the first that is complete has the least of all. Of equals the one with
// more steps done, then the one found first.
std::optional<State> Search(const OrderProblem& p, const Links& links, size_t bound, size_t below) {
  using Entry = std::pair<std::pair<size_t, size_t>, size_t>;  // peak, steps left, number
  std::vector<State> states;
  std::map<std::vector<uint64_t>, size_t> least;  // peak by the set of steps done
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
  const size_t most = std::min(kMostStates, kMostWork / p.steps.size());
  while (!open.empty() && states.size() < most) {
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

// Always the step that holds least while it runs, then the one that leaves least, then the first.
State Greedy(const OrderProblem& p, const Links& links, size_t bound) {
  State state(p, links);
  for (state.RunFree(bound); !state.done(); state.RunFree(bound)) {
    const auto cost = [&](int step) {
      return std::make_pair(std::max({state.During(step), state.peak(), bound}),
                            static_cast<int64_t>(state.Made(step)) - static_cast<int64_t>(state.Freed(step)));
    };
    state.Run(*std::min_element(state.ready().begin(), state.ready().end(),
                                [&](int a, int b) { return cost(a) < cost(b); }));
  }
  return state;
}

std::vector<int> Given(const OrderProblem& p) {
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
  const std::vector<int> given = Given(problem);
  const size_t bound = LowerBound(problem, links);
  size_t best = PeakOf(problem, links, given);
  if (best <= bound) return given;
  std::vector<int> order = given;
  const State greedy = Greedy(problem, links, bound);
  if (greedy.peak() < best) best = greedy.peak(), order = greedy.order();
  if (best > bound)
    if (const auto found = Search(problem, links, bound, best)) order = found->order();
  return order;
}

}  // namespace tern
