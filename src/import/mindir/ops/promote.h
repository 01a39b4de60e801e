// The common element type of two operands.
#pragma once
#include <utility>

#include "import/mindir/ops/emit.h"

namespace tern::mindir {

// Returns inputs i and j, cast to a common type: complex numbers before floats before integers before bools,
// and then the wider type. f16 and bf16 give f32. A Python number affects the type only if its kind is higher
// than that of the tensor. For example, i32 and 2.5 give f32, but f16 and 2.5 give f16.
std::pair<Value*, Value*> Promoted(Emit& e, int i, int j);
// Casts values to their common type.
void PromoteAll(Emit& e, std::vector<Value*>& values);
DType CommonType(DType a, DType b);

}  // namespace tern::mindir
