// Checks the invariants of a graph on which all of Tern relies.
#pragma once
#include "ir/graph.h"

namespace tern {

// Values must be in scope and defined before they are read. Use lists and back pointers must be consistent.
// Input and output counts must match the ops. Constants must have their declared types. All subgraphs of a
// node must be present. The states must be valid (CheckStates). The error names the node and the value.
Status VerifyGraph(const Graph& graph);

}  // namespace tern
