// Checks the invariants of a graph.
#pragma once
#include "ir/graph.h"

namespace tern {

// A value must be in scope and must be defined before it is read. Use lists and back pointers must be
// consistent. A node must not have more inputs or outputs than its op declares. Constants must have their
// declared types. All subgraphs of a node must be present. The states must be valid (CheckStates). The error
// names the node and the value.
Status VerifyGraph(const Graph& graph);

}  // namespace tern
