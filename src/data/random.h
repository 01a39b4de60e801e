// Made-up tensors for trying a model: the same seed and name give the same numbers on every platform.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

// floats: uniform in [-1, 1), rounded to the type. Integers: 0 or 1, which is valid as a token, a class, a
// mask. bool: either. Strings: words of 1 to 8 small letters. Complex: both parts like floats.
Result<Tensor> RandomTensor(DType dtype, const Dims& dims, uint64_t seed, std::string_view name);

}  // namespace tern::data
