// Plain text: numbers separated by blanks or commas, or one string per line. data/csv.h reads tables.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

// Returns a tensor of rank 1. Strings: one per line, without the line end. In numeric text, `#` starts a
// comment, and a comma without a number before it is an error.
Result<Tensor> ParseText(std::string_view text, DType wanted);

// Parses one number into element i; for integers also `true` and `false`. Returns false if it is not a
// number, or if the tensor's type cannot represent it.
bool StoreNumber(const std::string& word, Tensor& t, int64_t i);

// Writes one number per line, or for rank 2 and more the last axis on one line. Writes one string per line.
std::string FormatText(const Tensor& tensor);

// Returns the lines without their ends. Drops an empty last line.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace tern::data
