// Do the data that a caller feeds fit what the model declares?
#pragma once
#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// The error names the input, what was expected and what came. A plan is made from the dims that came, so dims
// that share a symbol but not a size, as exporters leave them, are no error: the result tells of the first
// such pair (empty: none), for the case that some node needs them to agree.
Result<std::string> CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs);

}  // namespace tern
