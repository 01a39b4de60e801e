// Reads and writes plain text: numbers separated by blanks, commas or semicolons, or one string per line.
// data/csv.h reads tables.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

// Returns a tensor of rank 1. `wanted` is the element type; kInvalid means f32. If `wanted` is kString, each
// line is an element, without its line end. Otherwise each number is an element, `#` starts a comment, and a
// comma or semicolon without a number before it is an error.
Result<Tensor> ParseText(std::string_view text, DType wanted);

// Parses `word` as a number and stores it in element i. Integer and bool tensors also accept `true` and
// `false`. Returns false if `word` is not a number, or if the tensor's type cannot represent it.
bool StoreNumber(const std::string& word, Tensor& t, int64_t i);

// Returns the elements as text. Strings are written one per line. Numbers of a tensor of rank 0 or 1 are also
// written one per line. For a higher rank, each line has the numbers along the last axis. A complex number is
// written as two numbers.
std::string FormatText(const Tensor& tensor);

// Returns the lines without their line ends. A line end at the end of the text does not start another line.
std::vector<std::string> SplitLines(std::string_view text);

}  // namespace tern::data
