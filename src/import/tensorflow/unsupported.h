// Checks that Tern has a converter for every operator that a model needs, and that no needed node changes
// variables.
#pragma once
#include <vector>

#include "import/tensorflow/graph_ports.h"

namespace tern::tensorflow {

// The error lists all unsupported operators, how often each occurs, and where.
Status ListUnsupported(const ModelContext& model, const std::vector<NamedTensor>& inputs,
                       const std::vector<NamedTensor>& outputs);

}  // namespace tern::tensorflow
