// The indices of GatherND and ScatterND. Each row along the last dim is a tuple: the position of a slice of
// x.
#pragma once
#include "ops/shape/axes.h"

namespace tern {

// Returns the offset in x of each tuple's slice, in the order of the tuples. A tuple indexes the dims of x
// from batch_dims on. The first batch_dims dims of indices equal those of x. Fails if an index is out of
// range.
Result<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& x, int batch_dims);

}  // namespace tern
