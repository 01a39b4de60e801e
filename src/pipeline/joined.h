// Joins and splits tensors along the first axis.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace tern::pipeline {

// Returns whether the tensors have the same element type, and the same dims except the first one.
bool SameRows(const Tensor& a, const Tensor& b);
// Concatenates the parts along the first axis. They must satisfy SameRows. A single part is returned without
// a copy.
Tensor Joined(const std::vector<Tensor>& parts);
// Returns a copy of the rows [first, first + count).
Tensor RowsOf(const Tensor& tensor, int64_t first, int64_t count);

}  // namespace tern::pipeline
