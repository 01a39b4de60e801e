// Reads a text file with the keys and values of a lookup table, one entry per line.
#pragma once
#include <string>
#include <utility>

#include "core/tensor.h"

namespace tern::tensorflow {

// `key` and `value` say which part of a line is the key or the value. -2 means the entire line, -1 the number
// of the line, and other numbers a column.
struct Vocabulary {
  int64_t key = -2, value = -1;
  int64_t size = -1;   // the number of lines that are read; -1 means all
  int64_t offset = 0;  // added to the number of a line
  std::string delimiter = "\t";
};

Result<std::pair<Tensor, Tensor>> ReadVocabulary(const std::string& path, const Vocabulary& format, DType key,
                                                 DType value);

}  // namespace tern::tensorflow
