// States of a graph (GraphState): which are sound, and which pairs of inputs and outputs are meant to be
// ones.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace tern {

// Fails where a state does not lead from an input to an output of a model's own graph, where two states share
// one, or where the types of past and present cannot agree: the same element type, the same rank, and no dim
// other than that of the axis that is provably another.
Status CheckStates(const Graph& graph);

// Inputs and outputs that are past and present by their names, as the usual exporters write them
// (docs/architecture/ir.md lists the names). A pair counts only where the types agree and at most one axis
// grows; that axis is found from the dims, such as past_sequence and past_sequence+sequence.
std::vector<GraphState> FindStates(const Graph& graph);

// States as a user names them: "auto" (FindStates), "none", or pairs "past=present,past=present". Fails where
// a name is no input or output, or where the types do not tell which axis grows.
Result<std::vector<GraphState>> StatesFromText(const Graph& graph, std::string_view text);

}  // namespace tern
