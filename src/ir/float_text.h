// Floats as text that reads back to the same bits.
#pragma once
#include <string>

#include "core/tensor.h"

namespace tern {

// Element i of a contiguous tensor of floats: the shortest number; for a NaN `nan`, or `nan(0x7fc00001)` with
// all its bits when it is not the one that `nan` reads as.
std::string FloatText(const Tensor& t, int64_t i);
// Reverses it. False, when the text is no such float, leaves the element alone.
bool StoreFloatText(Tensor& t, int64_t i, const std::string& text);
// Real and imaginary parts in turn, over the bytes of a contiguous complex tensor.
Tensor ComplexParts(const Tensor& t);

}  // namespace tern
