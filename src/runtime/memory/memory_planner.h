// Places blocks of memory with given lifetimes in one arena.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

// Alive from step `first` to step `last`, both included.
struct Block {
  size_t bytes = 0;
  int first = 0, last = 0;
};

struct Offsets {
  std::vector<size_t> at;  // per block
  size_t total = 0;
};

// Greedy by size: big blocks first, each at the lowest place free during its whole life. Offsets are
// multiples of
// 64. Two blocks alive at the same step never overlap.
Offsets PlanOffsets(const std::vector<Block>& blocks);

}  // namespace tern
