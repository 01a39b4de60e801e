// The smallest and largest elements of a type, from which importers start reductions.
#pragma once
#include "core/tensor.h"

namespace tern::import {

// Returns a tensor [1] with the smallest or largest finite number of the type. The type must be f64, f32,
// f16, bf16 or an integer.
Tensor SmallestOf(DType dtype);
Tensor LargestOf(DType dtype);

}  // namespace tern::import
