// Checks the invariants of a graph that the rest of Tern relies on.
#pragma once
#include "ir/graph.h"

namespace tern {

// Values are defined before they are read and are in scope; use lists and back pointers are consistent; input
// and output counts match the ops; constants have their declared types; subgraphs are present; states connect
// inputs to outputs of the same type. The error names node and value.
Status VerifyGraph(const Graph& graph);

}  // namespace tern
