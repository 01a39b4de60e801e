// Assigns offsets in one arena to blocks of memory with given lifetimes.
#pragma once
#include <cstddef>
#include <vector>

namespace tern {

// A block of memory that is alive from step `first` to step `last`, both included.
struct Block {
  size_t bytes = 0;
  int first = 0, last = 0;
};

struct Offsets {
  std::vector<size_t> at;  // offset of each block, in bytes
  size_t total = 0;
};

// Assigns offsets greedily: places large blocks first, each at the lowest offset that is free during its
// lifetime. Offsets are multiples of 64. Two blocks that are alive at the same step never overlap.
Offsets PlanOffsets(const std::vector<Block>& blocks);

}  // namespace tern
