// The indices of GatherND and ScatterND. Each vector along the last axis is a tuple, which selects a slice of
// x.
#pragma once
#include "ops/shape/axes.h"

namespace tern {

// Returns, for each tuple, the offset of its slice in x, in elements. The first batch_dims dims of `indices`
// and x are equal. A tuple has an index for each of the following dims of x, or for the first few of them.
// Fails if an index is out of range.
Result<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& x, int batch_dims);

}  // namespace tern
