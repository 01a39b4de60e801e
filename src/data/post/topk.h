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

// Returns the k largest scores of each row, largest first. Row i of [N, …] is all elements whose first index
// is i. A tensor of rank 0 or 1 is one row. Ranked::index is the position in the row. Equal scores are
// ordered by index, and NaN is last. Fails if the elements are not numbers.
Result<std::vector<std::vector<Ranked>>> TopK(const Tensor& scores, int64_t k);

// Returns the softmax over the last axis as f32. A row becomes NaN if it contains NaN or if its largest
// element is infinite. Fails if there is no axis.
Result<Tensor> Softmax(const Tensor& logits);
Result<Tensor> Sigmoid(const Tensor& logits);

}  // namespace tern::data
