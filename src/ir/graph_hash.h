// A hash of what a graph computes.
#pragma once
#include "ir/graph.h"

namespace tern {

// The hash depends on ops, attributes, edges and constants, also on those of nested graphs. It does not
// depend on names and types. Values of enclosing graphs are numbered in the order of their first use.
uint64_t HashOf(const Graph& graph);

}  // namespace tern
