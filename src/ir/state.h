// States of a graph (GraphState): validation, and detection of past/present pairs.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Fails if a state does not connect an input to an output of a top-level graph, if two states share an input
// or output, or if the types of past and present cannot match: same element type, same rank, and no provably
// different dim other than that of the growing axis.
Status CheckStates(const Graph& graph);

// Pairs of past and present found by their names, as common exporters write them (docs/architecture/ir.md
// lists the names). A pair counts only if the types match and at most one axis grows. The growing axis
// follows from the dims, such as past_sequence and past_sequence+sequence.
std::vector<GraphState> FindStates(const Graph& graph);

// Checks the syntax of a text for StatesFromText.
Status CheckStatesText(std::string_view text);

// States as specified by a user: "auto" (FindStates), "none", or pairs "past=present,past=present". Fails if
// a name is not an input or output, or if the types do not determine the growing axis.
Result<std::vector<GraphState>> StatesFromText(const Graph& graph, std::string_view text);

}  // namespace tern
