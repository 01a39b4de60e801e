// Floats as text that parses back to the same bits.
#pragma once
#include <string>

#include "core/tensor.h"

namespace tern {

// Element i of a contiguous float tensor: the shortest decimal number. A NaN is `nan` if it has the default
// bits, else `nan(0x7fc00001)` with all its bits.
std::string FloatText(const Tensor& t, int64_t i);
// The inverse. Returns false and leaves the element unchanged if the text is not such a float.
bool StoreFloatText(Tensor& t, int64_t i, const std::string& text);
// A view of a contiguous complex tensor as alternating real and imaginary parts.
Tensor ComplexParts(const Tensor& t);

}  // namespace tern
