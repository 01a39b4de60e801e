// Converts numbers to text and back, for Cast.
#pragma once
#include <string>

#include "core/tensor.h"

namespace tern {

// Returns the element as numpy prints it: "1.0", "1e-05", "nan", "True", "-3".
std::string ElementText(const Tensor& t, int64_t i);
// Parses the text and stores the number. Accepts positional and scientific notation, inf and nan in upper or
// lower case, a sign, and surrounding blanks. For bool, also accepts true and false. For integer types, the
// fraction is dropped.
Status StoreText(const std::string& text, Tensor& t, int64_t i);

}  // namespace tern
