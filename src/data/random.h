// Makes random tensors for trying a model. The same seed and name produce the same numbers on every platform.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

// Returns a random tensor. Floats: uniform in [-1, 1), rounded to the type. Integers: 0 or 1, which are valid
// as a token, a class or a mask. Bool: false or true. Strings: 1 to 8 lower-case letters. Complex: both parts
// like floats.
Result<Tensor> RandomTensor(DType dtype, const Dims& dims, uint64_t seed, std::string_view name);

}  // namespace tern::data
