// Converts floats to text that parses back to the same bits.
#pragma once
#include <string>

#include "core/tensor.h"

namespace tern {

// Returns element i of a contiguous float tensor as the shortest decimal number that parses to the same
// value. The text of a NaN with the default bits is `nan`. The text of any other NaN contains all its bits,
// for example `nan(0x7fc00001)`.
std::string FloatText(const Tensor& t, int64_t i);
// Parses a text of FloatText and stores it in element i. Returns false and leaves the element unchanged if
// the text is not a float.
bool StoreFloatText(Tensor& t, int64_t i, const std::string& text);
// Returns a view of a contiguous complex tensor as floats of shape [size, 2]. Each row contains a real and
// an imaginary part.
Tensor ComplexParts(const Tensor& t);

}  // namespace tern
