// GatherND's and ScatterND's indices: the last dim holds tuples, each the start of a slice of x.
#pragma once
#include "ops/shape/axes.h"

namespace tern {

// The offset in x of each tuple's slice, in tuple order. Tuples index x's dims from batch_dims on; leading
// dims of indices run along with x's. Every index is checked.
Result<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& x, int batch_dims);

}  // namespace tern
