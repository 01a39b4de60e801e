// Finds the rank of an input that a graph does not declare.
#pragma once
#include <string>

#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// Returns the rank of a placeholder, or -1 if no reader determines it. Follows the readers through operators
// that keep the rank or change it in a known way, up to an operator that requires a rank. For example, a
// convolution of images requires 4 axes.
int InputRank(const pb::GraphDef& graph, const std::string& placeholder);

}  // namespace tern::tensorflow
