// The indices of GatherND and ScatterND. The last dim holds tuples; a tuple is the position of a slice of x.
#pragma once
#include "ops/shape/axes.h"

namespace tern {

// The offset in x of each tuple's slice, in tuple order. Tuples index x's dims from batch_dims on; the
// leading dims of indices match those of x. Every index is checked.
Result<std::vector<int64_t>> TupleOffsets(const Tensor& indices, const Dims& x, int batch_dims);

}  // namespace tern
