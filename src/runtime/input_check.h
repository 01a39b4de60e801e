// Do the data that a caller feeds fit what the model declares?
#pragma once
#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// One paragraph that names the input, what was expected and what came; symbols must have one value across inputs.
Status CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs);

}  // namespace tern
