// Finds the classes with the largest scores.
#pragma once
#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

struct Ranked {
  int64_t index;
  double score;
};

// Returns the k largest scores of each row of the first axis (one row for rank 0 and 1), largest first. Equal
// scores are ordered by index; NaN is last. Fails if the elements are not numbers.
Result<std::vector<std::vector<Ranked>>> TopK(const Tensor& scores, int64_t k);

}  // namespace tern::data
