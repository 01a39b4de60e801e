// Lists which ONNX operators the importer supports.
#pragma once
#include <vector>

#include "load/format.h"

namespace tern::onnx {

// Returns all operators that ONNX defines, followed by the operators of other domains that Tern imports. Each
// of the two groups is sorted by domain and name.
std::vector<load::Operator> Operators();

}  // namespace tern::onnx
