// The keys of the dicts and classes that an exported program returns.
#pragma once
#include <string>
#include <vector>

#include "import/torch/export/json.h"

namespace tern::torch {

// Returns a name per output of the program: the keys and indices that lead to the output, joined with "_",
// such as "hidden_0" for {"hidden": [x]}. Indices in front of the first key are omitted, so that the name of
// an output without keys is empty. `module` is the program's graph_module, and `count` the number of its
// outputs. Returns an empty list if the module does not describe a tree of `count` outputs.
std::vector<std::string> OutputKeys(Json module, size_t count);

}  // namespace tern::torch
