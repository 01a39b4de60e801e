// Plain text: numbers between blanks or commas, or one string a line. data/csv.h reads tables.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

// One dimension. Strings: a line each, without its end. `#` starts a comment in a text of numbers. A comma
// without a number before it is an error.
Result<Tensor> ParseText(std::string_view text, DType wanted);

// Reads one number (`true` and `false` too, for integers) into element i. False when it is none, or when the
// tensor's type cannot hold it.
bool StoreNumber(const std::string& word, Tensor& t, int64_t i);

// Numbers one a line (the last axis on one line for more dims); strings a line each.
std::string FormatText(const Tensor& tensor);

// Lines without their ends; a last empty one does not count.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace tern::data
