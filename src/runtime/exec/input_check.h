// Checks the inputs that a caller feeds against the types that the model declares.
#pragma once
#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// Fails if an input has another type, rank or fixed dim than declared; the error names the input, its
// declared type and the actual one. Two dims with the same symbol but different sizes are no error: exporters
// write such symbols, and plans are compiled for the actual dims. The result describes the first such pair;
// it is empty if there is none. A caller adds it to the error if a node needs the two dims to be equal.
Result<std::string> CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs);

// Turns kInvalidModel into kInvalidArgument if inputs have unknown dims: the model was valid when it was
// loaded, so the sizes that the caller chose must be wrong. The message names these inputs, their actual and
// declared types. Returns other errors unchanged.
Status BlameInputs(Status status, const Graph& graph, const std::vector<const Datum*>& inputs);

}  // namespace tern
