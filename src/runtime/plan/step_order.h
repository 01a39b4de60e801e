// Finds an order of steps that respects their dependencies and has a low peak of memory.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

// A step with the blocks of memory that it reads and writes. A block is alive from the step that writes it to
// its last reader. A block that no step writes is external and not counted.
struct OrderStep {
  std::vector<int> after;  // indices of steps that must run before this step; smaller than its own index
  std::vector<int> reads;  // indices of blocks, without repetition
  std::vector<int> writes;
  bool overwrites = false;  // whether written blocks may reuse the memory of blocks that no later step reads
};

struct OrderProblem {
  std::vector<OrderStep> steps;
  std::vector<size_t> bytes;   // size of each block
  std::vector<bool> live_out;  // per block: whether it is alive after the last step
};

// Returns the maximum number of live bytes if the steps run in this order. During a step, the blocks that it
// reads and the blocks that it writes are alive.
size_t PeakOf(const OrderProblem& problem, const std::vector<int>& order);

// Returns the order with the lowest peak, found by a search over a limited number of states. If the limit is
// reached, returns the better of a greedy order and the original one (0, 1, …). Returns the original order if
// no other order is better. The result is deterministic.
std::vector<int> FindOrder(const OrderProblem& problem);

}  // namespace tern
