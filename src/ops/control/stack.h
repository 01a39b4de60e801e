// Collecting one slice per iteration into a tensor.
#pragma once
#include <cstring>
#include <vector>

#include "core/datum.h"

namespace tern {

// Slices of one type and shape, put along a new axis (0 ≤ axis ≤ rank). `empty` gives type and dims when
// there is no slice.
Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty);
// Slice `index` of x along axis, the axis dropped.
Tensor TakeSlice(const Tensor& x, int axis, int64_t index);

}  // namespace tern
