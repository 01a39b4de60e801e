// Checks the invariants of a graph on which all of Tern relies.
#pragma once
#include "ir/graph.h"

namespace tern {

// Checks that values are in scope and defined before they are read, that use lists and back pointers are
// consistent, that input and output counts match the ops, that constants have their declared types, that all
// subgraphs of a node are present, and that the states are valid (CheckStates). The error names the node and
// the value.
Status VerifyGraph(const Graph& graph);

}  // namespace tern
