// Finds values of the graph that do not depend on the model's inputs.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace tern::torch::script {

// Returns the contents of a small tensor that is computed from constants only, by few nodes.
std::optional<Tensor> ConstantValue(const Value& value);

}  // namespace tern::torch::script
