// Numbers to text and back, as Cast does it.
#pragma once
#include <string>

#include "core/tensor.h"

namespace tern {

// As numpy prints it: "1.0", "1e-05", "nan", "True", "-3".
std::string ElementText(const Tensor& t, int64_t i);
// Accepts plain and scientific notation, inf and nan in any case with a sign, blanks around. Integers drop a
// fraction.
Status StoreText(const std::string& text, Tensor& t, int64_t i);

}  // namespace tern
