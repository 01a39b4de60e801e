// The best classes of a score vector.
#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

struct Ranked {
  int64_t index;
  double score;
};

// For each row of the first axis (one row for rank 0 and 1) the k largest scores, largest first; equal ones
// in order of their index, NaN last. A tensor that is not of numbers is an error.
Result<std::vector<std::vector<Ranked>>> TopK(const Tensor& scores, int64_t k);

}  // namespace tern::data
