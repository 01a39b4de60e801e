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

// Parses one number into element i; for integers also `true` and `false`. False when it is not a number, or
// the tensor's type cannot represent it.
bool StoreNumber(const std::string& word, Tensor& t, int64_t i);

// One number per line, or the last axis on one line for rank 2 and more; one string per line.
std::string FormatText(const Tensor& tensor);

// The lines without their ends; an empty last line is dropped.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace tern::data
