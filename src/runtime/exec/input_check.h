// Checks the inputs that a caller feeds against the types that the model declares.
#pragma once
#include "core/datum.h"
#include "ir/graph.h"

namespace tern {

// Fails if an input has another type, rank or fixed dim than declared. The error names the input, its
// declared type and its actual type. Two dims with the same symbol but different sizes are an error only if
// the graph has exact symbols (ir/exact_symbols.h). In other graphs they are none, because some exporters
// write wrong symbols, and plans are compiled for the actual dims. Returns a description of the first such
// pair, or an empty string. If compilation then fails, the caller adds this description to the error.
Result<std::string> CheckInputs(const Graph& graph, const std::vector<const Datum*>& inputs);

// Turns kInvalidModel into kInvalidArgument if inputs have unknown dims. The model was valid when it was
// loaded, so the sizes that the caller chose must be wrong. The message names the inputs with unknown dims,
// with their actual and declared types. Returns other errors unchanged.
Status BlameInputs(Status status, const Graph& graph, const std::vector<const Datum*>& inputs);

}  // namespace tern
