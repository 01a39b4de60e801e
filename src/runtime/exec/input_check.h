// Do the data that a caller feeds fit what the model declares?
#pragma once
#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// The error names the input, what was expected and what came. A plan is made from the dims that came, so dims
// that share a symbol but not a size, as exporters leave them, are no error: the result tells of the first
// such pair (empty: none), for the case that some node needs them to agree.
Result<std::string> CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs);

// A graph that was sound when it was loaded fails with the sizes that the caller chose. Where `status` says
// that the model is invalid and inputs have open dims, the result is kInvalidArgument and names these inputs,
// what they were given and what they declare. Other errors stay as they are.
Status BlameInputs(Status status, const Graph& graph, const std::vector<const Datum*>& inputs);

}  // namespace tern
