// Makes random tensors for trying a model. The same seed and name produce the same numbers on every platform.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

// Returns a random tensor. Floats are uniform in [-1, 1), rounded to the type. Integers are 0 or 1, which are
// valid as a token, a class or a mask. Bools are false or true. Strings have 1 to 8 lower-case letters. Both
// parts of complex numbers are like floats.
Result<Tensor> RandomTensor(DType dtype, const Dims& dims, uint64_t seed, std::string_view name);

}  // namespace tern::data
