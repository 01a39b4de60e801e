// Makes random tensors, for runs of a model without real inputs. The same seed and name produce the same
// numbers on every platform.
#pragma once
#include <cstdint>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

// Returns a random tensor. Floats are uniform in [-1, 1), rounded to the type. Integers are 0 or 1, because
// models usually accept these as tokens, classes and masks. Bools are false or true. Strings have 1 to 8
// lower-case letters. The real and imaginary parts of complex numbers are uniform in [-1, 1). Fails if the
// tensor takes more than 8 GiB.
Result<Tensor> RandomTensor(DType dtype, const Dims& dims, uint64_t seed, std::string_view name);

}  // namespace tern::data
