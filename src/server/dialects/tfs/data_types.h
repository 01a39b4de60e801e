// TensorFlow's numbers and names of element types.
#pragma once
#include <string>

#include "base/dtype.h"

namespace tern::server::tfs {

// Maps a number of tensorflow.DataType, such as 1 for DT_FLOAT. Returns kInvalid for a type that models of
// this server do not have.
DType TypeOfNumber(int number);
// Returns 0 (DT_INVALID) for a type that TensorFlow does not have.
int NumberOfType(DType dtype);
// Returns "DT_FLOAT". A number that TensorFlow does not define is returned in decimal.
std::string NumberName(int number);
// Returns "float", as in TensorFlow's messages.
std::string TypeName(DType dtype);

}  // namespace tern::server::tfs
