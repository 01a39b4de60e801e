// Checks the states of a graph (GraphState), and finds pairs of past and present by their names.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Checks the states of a graph. A state must connect an input to an output of a top-level graph. Two states
// must not share an input or output. Past and present must have the same element type and rank, and their
// dims must not provably differ, except along the growing axis.
Status CheckStates(const Graph& graph);
// Returns false if these types cannot be the past and the present of a state that grows along `axis`. An
// unknown type or rank may become any type or rank.
bool MayBeState(const Type& past, const Type& present, int axis = -1);

// Finds pairs of past and present by the names that common exporters use (docs/architecture/ir.md lists the
// names). A pair is a state only if the types match and at most one axis grows. The growing axis follows from
// the dims, such as past_sequence and past_sequence+sequence. If the dims do not show whether an axis grows,
// the names of the pair and of its symbols decide.
std::vector<GraphState> FindStates(const Graph& graph);

// Checks the syntax of a text for StatesFromText.
Status CheckStatesText(std::string_view text);

// Returns the states that a user specifies. `text` is "auto" (FindStates), "none" or a list of pairs such as
// "past_k=present_k,past_v=present_v". Fails if a name is not an input or output, if two pairs share an input
// or output, or if the types do not determine the growing axis.
Result<std::vector<GraphState>> StatesFromText(const Graph& graph, std::string_view text);

}  // namespace tern
