// Lists which MindSpore primitives the importer supports.
#pragma once
#include <vector>

#include "load/format.h"

namespace tern::mindir {

// Returns all primitives that MindSpore defines, and the others that Tern imports, sorted by name.
std::vector<load::Operator> Operators();

}  // namespace tern::mindir
