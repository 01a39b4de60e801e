// Finds the rank of an input that a graph does not declare.
#pragma once
#include <string>

#include "import/tensorflow/messages.h"

namespace tern::tensorflow {

// Follows the readers of a placeholder through operators that keep or change the rank in a known way, to one
// that fixes the rank: a convolution of images reads 4 axes. Returns -1 if there is none.
int InputRank(const pb::GraphDef& graph, const std::string& placeholder);

}  // namespace tern::tensorflow
