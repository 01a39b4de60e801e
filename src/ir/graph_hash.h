// A hash of what a graph computes.
#pragma once
#include "ir/graph.h"

namespace tern {

// Depends on ops, attributes, edges and constants, also of nested graphs; not on names and types. Values of
// enclosing graphs count by the order of their first use.
uint64_t HashOf(const Graph& graph);

}  // namespace tern
