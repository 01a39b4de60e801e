// Access to the numbers of model outputs.
#pragma once
#include "core/tensor.h"

namespace tern::data {

// Returns the tensor as contiguous f32. Fails if the elements are not numbers.
Result<Tensor> AsFloats(const Tensor& t);

}  // namespace tern::data
