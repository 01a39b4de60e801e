// Lists which types of layers the importer supports.
#pragma once
#include <vector>

#include "load/format.h"

namespace tern::caffe {

// Returns all types of layers that BVLC Caffe defines, followed by types of other forks that Tern imports.
// Each of the two groups is sorted by name.
std::vector<load::Operator> Operators();

}  // namespace tern::caffe
