// In which order steps run: among all that respect what each needs, one that holds little memory at once.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

// Steps and the blocks of memory they read and make. A block is there from the step that makes it to the last
// one that reads it; blocks without a maker are somebody else's.
struct OrderStep {
  std::vector<int> after;  // steps that must come before, with smaller indices
  std::vector<int> reads;  // blocks, each once
  std::vector<int> makes;
  bool over = false;  // what it makes takes the place of what dies in it
};

struct OrderProblem {
  std::vector<OrderStep> steps;
  std::vector<size_t> bytes;  // per block
  std::vector<bool> kept;     // per block: stays to the end
};

// The most bytes held at once; a step holds what it reads beside what it makes.
size_t PeakOf(const OrderProblem& problem, const std::vector<int>& order);

// The given order (0, 1, …) where none was found that is better. The least of all orders unless the search,
// which visits a limited number of states, had to stop; then a greedy one. The same for the same problem,
// always.
std::vector<int> FindOrder(const OrderProblem& problem);

}  // namespace tern
